"""The history of an observation: what it said before each change."""

from datetime import datetime

from django.db.models import Max

from observations.models import Observation, ObservationRevision
from tenants.caller import Caller


def keep_revision(observation: Observation, *, caller: Caller, now: datetime) -> None:
    """Keeps what the locked observation says, before it is changed in the open scope."""
    mine = ObservationRevision.objects.filter(tenant_id=observation.tenant_id, observation_id=observation.id)
    newest = mine.aggregate(newest=Max("number"))["newest"] or 0
    ObservationRevision.objects.create(
        tenant_id=observation.tenant_id,
        observation_id=observation.id,
        number=newest + 1,
        user_id=observation.user_id,
        type=observation.type,
        title=observation.title,
        content=observation.content,
        tags=observation.tags,
        replaced_at=now,
        replaced_by=caller.principal,
    )
