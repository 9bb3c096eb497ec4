"""Changing an observation by hand, and what it said before."""

from datetime import datetime

from observations.dedup import normalized_hash
from observations.indexing import index_observation
from observations.models import Observation, ObservationRevision
from observations.observations import access_observation, reach_of
from observations.revising import keep_revision
from observations.types import Changes
from observations.validation import check
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from tenants.telemetry import memory_span
from tenants.tombstones import refuse_erased


def edit_observation(*, caller: Caller, observation_id: int, changes: Changes, now: datetime) -> Observation:
    """Changes what is given; what it said before is kept as a revision. Raises NotFound for one in the trash
    or out of reach, InvalidObservation as when it is saved."""
    with memory_span("update_observation", observation_id=observation_id) as span:
        observation = _edited(caller, observation_id, changes, now)
        span.set(project=observation.project, type=observation.type)
    return observation


def _edited(caller: Caller, observation_id: int, changes: Changes, now: datetime) -> Observation:
    given = {"type": changes.type, "title": changes.title, "content": changes.content}
    fields = {name: value for name, value in given.items() if value is not None}
    check(tags=changes.tags or (), **fields)
    reach = reach_of(caller, to_change=True)
    user_id = access_observation(caller=caller, observation_id=observation_id).user_id
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)  # the person before the row
        mine = Observation.objects.filter(reach, id=observation_id, deleted_at=None)
        observation = mine.select_for_update().first()
        if observation is None:
            raise NotFound("observation not found")
        _change(observation, fields, changes.tags, caller, now)
        idempotency.keep(observation, user_id=user_id)
    return observation


def list_revisions(
    *, caller: Caller, observation_id: int, limit: int, before: int | None = None
) -> list[ObservationRevision]:
    """What it said before each change, newest first; `before`: only revisions of a lower number. Also of one
    in the trash."""
    reach = reach_of(caller)
    with scope(caller.tenant_id):
        if not Observation.objects.filter(reach, id=observation_id).exists():
            raise NotFound("observation not found")
        found = ObservationRevision.objects.filter(
            tenant_id=caller.tenant_id, observation_id=observation_id
        ).order_by("-number")
        return list((found if before is None else found.filter(number__lt=before))[:limit])


def _change(
    observation: Observation,
    fields: dict[str, str],
    tags: tuple[str, ...] | None,
    caller: Caller,
    now: datetime,
) -> None:
    before = (observation.type, observation.title, observation.content, observation.tags)
    after = (*(fields.get(name, getattr(observation, name)) for name in ("type", "title", "content")),)
    if before == (*after, observation.tags if tags is None else list(tags)):
        return
    keep_revision(observation, caller=caller, now=now)
    observation.type, observation.title, observation.content = after
    if tags is not None:
        observation.tags = list(tags)
    observation.normalized_hash = normalized_hash(observation.content)
    observation.updated_at = now
    observation.embed_pending = observation.embed_pending or before[1:3] != after[1:]
    observation.save(
        update_fields=["type", "title", "content", "tags", "normalized_hash", "updated_at", "embed_pending"]
    )
    index_observation(observation, now=now)
