"""Summaries of what is gone: they go as well, and are made again of what is left."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from episodic.models import SummaryPartition
from episodic.retention_queries import OldEpisodes
from tenants.jobs.queue import enqueue

REFRESH = "summary_view.refresh"  # the job that makes a summary, or those of a view
PASSED = """EXISTS (
    SELECT FROM jsonb_path_query(passing, '$[*]') one
    WHERE (one ->> 'agent_id' = ANY(%s)) = %s AND (one ->> 'since')::timestamptz < %s
)"""


def have_made_again(
    *, tenant_id: UUID, view_id: UUID, group: Mapping[str, str], user_id: str, now: datetime
) -> None:
    """Records a job that makes the summary of one group, in the open scope. Of each group one waits at a
    time. `user_id`: of whose memory alone it tells."""
    # A digest: the key must not name whom the group names.
    named = json.dumps([str(view_id), sorted(group.items())])
    payload = {"view": str(view_id), "group": dict(group)}
    key = hashlib.sha256(named.encode()).hexdigest()
    enqueue(REFRESH, payload=payload, now=now, tenant_id=tenant_id, user_id=user_id, dedup_key=key)


def retire_passed(old: OldEpisodes, *, now: datetime, limit: int) -> int:
    """Deletes up to `limit` summaries that such episodes are part of and has them made again, in the open
    scope; how many."""
    found = list(_passed(old).select_for_update().order_by("id")[:limit])
    for one in found:
        _have_made_again(one, now)
    SummaryPartition.objects.filter(tenant_id=old.tenant_id, id__in=[one.id for one in found]).delete()
    return len(found)


def has_passed(old: OldEpisodes) -> bool:
    """Whether there are any, in the open scope."""
    return bool(_passed(old).exists())


def have_made_without(*, tenant_id: UUID, user_id: str, names: frozenset[str], until: datetime) -> None:
    """Has the summaries that a person and others are part of made again, of what is left: but for groups that
    are called like the person. In the open scope."""
    shared = SummaryPartition.objects.filter(
        tenant_id=tenant_id, users__contains=[user_id], users__len__gt=1, oldest_at__lte=until
    )
    for one in shared.order_by("id").iterator():
        if names.isdisjoint(one.group.values()):
            _have_made_again(one, until)


def _have_made_again(one: SummaryPartition, now: datetime) -> None:
    have_made_again(
        tenant_id=one.tenant_id, view_id=one.view_id, group=one.group, user_id=one.user_id, now=now
    )


def _passed(old: OldEpisodes) -> QuerySet[SummaryPartition]:
    params = [list(old.agents), old.listed, old.before]
    passed = Q(RawSQL(PASSED, params, BooleanField()))  # noqa: S611 - values stay parameters
    return SummaryPartition.objects.filter(passed, tenant_id=old.tenant_id)
