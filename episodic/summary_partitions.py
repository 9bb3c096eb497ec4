"""The groups of a summary view: which there are, the records of one, and the summaries that were made."""

import hashlib
import json
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Left

from episodic import querysets
from episodic.models import Episode, Origin, SummaryPartition, SummaryView
from episodic.summary_views import MISSING, Group, access_view, records_meant
from episodic.types import EpisodeFilter
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from tenants.tombstones import last_erasures

MOST_GROUPS = 1_000  # of a view, those with the newest records
MOST_RECORDS = 1_000  # of a group, the newest
LONGEST_TEXT = 2_000  # characters of a record
MOST_TEXT = 120_000  # characters of all records of a group
COLUMNS = {"session_id": "session"}
PASSES = ExpressionWrapper(Q(origin=Origin.SESSION, pinned_at=None), BooleanField())


class ChangedMeanwhile(Exception):
    """What the summary was made of is not there any more."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a summary is made of in a record. `passes`: one day, retention takes it."""

    id: UUID
    version: int
    user_id: str
    agent_id: str
    passes: bool
    text: str
    topics: Sequence[str]
    created_at: datetime
    happened_at: datetime


def groups_of(*, view: SummaryView, user_id: str = "", now: datetime) -> list[dict[str, str]]:
    """The groups that have records, or only those of a user; `MOST_GROUPS` at most, those with the newest
    records first."""
    own = {"user_id": user_id} if user_id else {}
    columns = [COLUMNS.get(name, name) for name in view.group_by]
    with scope(view.tenant_id):
        found = _records(view, records_meant(view, now=now, group=own))
        if not columns:
            return [{}] if found.exists() else []
        rows = found.order_by().values_list(*columns).annotate(newest=Max("created_at"))
        newest = list(rows.order_by("-newest", *columns)[:MOST_GROUPS])
    return [dict(zip(view.group_by, row[:-1], strict=True)) for row in newest]


def other_groups(*, view: SummaryView, user_id: str, but: Collection[Group]) -> list[dict[str, str]]:
    """Groups beside these that have a summary, or only those of a user; `MOST_GROUPS` at most, by lot, so
    that each has its turn."""
    left_out = {json.dumps(dict(one), sort_keys=True) for one in but}
    with scope(view.tenant_id):
        mine = SummaryPartition.objects.filter(tenant_id=view.tenant_id, view_id=view.id)
        if user_id:
            mine = mine.filter(user_id=user_id)
        made = {json.dumps(group, sort_keys=True): group for group in mine.values_list("group", flat=True)}
    others = [group for name, group in made.items() if name not in left_out]
    return random.sample(others, min(len(others), MOST_GROUPS))


def records_of(*, view: SummaryView, group: Group, now: datetime) -> list[Told]:
    """The newest records of a group, as many as a summary is made of, oldest first."""
    with scope(view.tenant_id):
        found = _records(view, records_meant(view, now=now, group=group)).order_by("-created_at", "-id")
        read = found.annotate(
            said=Left("text", LONGEST_TEXT),
            passes=PASSES,
            happened_at=Coalesce("event_date", "created_at"),
        )
        names = ("id", "version", "user_id", "agent_id", "passes", "said", "topics")
        rows = list(read.values_list(*names, "created_at", "happened_at")[:MOST_RECORDS])
    told, length = list[Told](), 0
    for row in rows:
        one = Told(*row)
        length += len(one.text)
        if told and length > MOST_TEXT:
            break
        told.append(one)
    return told[::-1]


def whose(view: SummaryView, group: Group, *, now: datetime) -> str:
    """The user of whose memory alone the group is; empty if that is not said."""
    return records_meant(view, now=now, group=group).user_id or ""


def fingerprint_of(records: Sequence[Told], *written_by: str) -> str:
    """Stands for these records as they are, and for who makes a summary of them."""
    made_of = [*written_by, *([str(one.id), one.version] for one in records)]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def find_partition(*, view: SummaryView, group: Group) -> SummaryPartition | None:
    """The summary that there is of the group."""
    with scope(view.tenant_id):
        mine = SummaryPartition.objects.filter(tenant_id=view.tenant_id, view_id=view.id, group=dict(group))
        return mine.order_by("-computed_at", "-id").first()


def save_partition(
    *, new: SummaryPartition, records: Sequence[Told], also: Callable[[], object] = lambda: None
) -> None:
    """Stores the summary in place of the former one; `also` is done in the same commit. Raises
    ChangedMeanwhile when one of the records was erased since they were read, Restricted, and NotFound when
    the view is gone."""
    tenant_id = new.tenant_id
    with scope(tenant_id):
        erased = last_erasures(tenant_id=tenant_id, user_ids={*new.users, new.user_id} - {""})
        _hold(tenant_id, [one.id for one in records if one.user_id in erased])
        # Two that make the same summary: one after the other.
        view = SummaryView.objects.select_for_update(no_key=True).filter(tenant_id=tenant_id, id=new.view_id)
        if not view.exists():
            raise NotFound(MISSING)
        former = SummaryPartition.objects.filter(tenant_id=tenant_id, view_id=new.view_id, group=new.group)
        former.delete()
        new.save(force_insert=True)
        also()
        idempotency.keep(new, user_id=new.user_id)


def list_partitions(*, caller: Caller, view_id: str, where: Group) -> list[SummaryPartition]:
    """The summaries of the view that the key may see, of groups with these values, the newest first. Raises
    NotFound, and Forbidden for another user's than the key is bound to."""
    caller.confine_user(where.get("user_id"))
    view = access_view(caller=caller, view_id=view_id)
    with scope(caller.tenant_id):
        found = SummaryPartition.objects.filter(
            tenant_id=caller.tenant_id, view_id=view.id, group__contains=dict(where)
        )
        if caller.user_id:
            found = found.filter(user_id=caller.user_id)
        newest: dict[str, SummaryPartition] = {}
        for one in found.order_by("-computed_at", "-id"):
            newest.setdefault(json.dumps(one.group, sort_keys=True), one)
    return list(newest.values())


def drop_partition(*, view: SummaryView, group: Group, made_before: datetime) -> bool:
    """Deletes the summary of a group that had no records at that moment; whether there was one. One that was
    made since stays."""
    with scope(view.tenant_id):
        mine = SummaryPartition.objects.filter(tenant_id=view.tenant_id, view_id=view.id, group=dict(group))
        return bool(mine.filter(computed_at__lt=made_before).delete()[0])


def _records(view: SummaryView, where: EpisodeFilter) -> QuerySet[Episode]:
    return Episode.objects.filter(querysets.matching(tenant_id=view.tenant_id, where=where))


def _hold(tenant_id: UUID, ids: Sequence[UUID]) -> None:
    """Keeps the records as they are until the open scope ends. Of people who were erased once: an erasure
    that goes on finds either no such record, or the summary that was made of it."""
    rows = Episode.objects.select_for_update(no_key=True).filter(tenant_id=tenant_id, id__in=ids)
    if ids and len(rows.order_by("id").values_list("id", flat=True)) < len(ids):
        raise ChangedMeanwhile
