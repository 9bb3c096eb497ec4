"""The history of an observation: what it said before each change."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max

from observations.models import Observation, ObservationRevision
from tenants.caller import Caller


def keep_revision(
    observation: Observation, *, caller: Caller, now: datetime, merged: Observation | None = None
) -> None:
    """Keeps what the locked observation says, before it is changed in the open scope; or what another one
    says that is merged into it."""
    keep_revisions([observation], caller=caller, now=now, merged=merged)


def keep_revisions(
    observations: Sequence[Observation],
    *,
    caller: Caller,
    now: datetime,
    merged: Observation | None = None,
) -> None:
    """Likewise of several of one tenant."""
    if not observations:
        return
    kept = ObservationRevision.objects.filter(
        tenant_id=observations[0].tenant_id, observation_id__in=[one.id for one in observations]
    )
    newest = dict(kept.values_list("observation_id").annotate(Max("number")))
    ObservationRevision.objects.bulk_create(
        ObservationRevision(
            tenant_id=one.tenant_id,
            observation_id=one.id,
            number=newest.get(one.id, 0) + 1,
            user_id=one.user_id,
            type=(merged or one).type,
            title=(merged or one).title,
            content=(merged or one).content,
            tags=(merged or one).tags,
            replaced_at=now,
            replaced_by=caller.principal,
            merged_from=merged.id if merged else None,
        )
        for one in observations
    )
