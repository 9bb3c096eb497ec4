"""The trash: what is deleted goes there first, and comes back unless it is deleted for good."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from observations.announcements import tell_observation
from observations.dedup import find_topic, identity_of, lock_identity
from observations.indexing import index_observation, unindex_observation
from observations.models import Observation
from observations.observations import reach_of
from observations.trail import by_hand
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.scope import scope
from tenants.telemetry import memory_span
from tenants.tombstones import refuse_erased
from webhooks.models import Event


@dataclass(frozen=True, slots=True)
class Deleted:
    """Whether there was something to delete."""

    found: bool


def delete_observation(*, caller: Caller, observation_id: int, hard: bool, now: datetime) -> Deleted:
    """Moves it to the trash, or removes it and its history for good, from the trash as well. Deleting what is
    deleted changes nothing."""
    reach = reach_of(caller, to_change=True)
    told = memory_span("delete_observation", observation_id=observation_id, hard_delete=hard)
    with told as span, scope(caller.tenant_id):
        observation = _locked(reach, observation_id)
        if observation is not None:
            span.set(project=observation.project, type=observation.type)
        done = Deleted(observation is not None and (hard or observation.deleted_at is None))
        if observation is not None and hard:
            tell_observation(observation, Event.ERASED)
            observation.delete()  # its history and what it is found by go along
            observation.id = observation_id
            by_hand(caller, "delete", observation)
        elif observation is not None and observation.deleted_at is None:
            observation.deleted_at = now
            observation.save(update_fields=["deleted_at"])
            unindex_observation(observation)
            by_hand(caller, "trash", observation)
            tell_observation(observation, Event.RETRACTED)
        idempotency.keep(done, user_id=observation.user_id if observation else caller.user_id)
    return done


def restore_observation(*, caller: Caller, observation_id: int, now: datetime) -> Observation:
    """Brings it back from the trash; one that is not there stays as it is. Raises NotFound, and Conflict when
    another observation has taken its topic key."""
    reach = reach_of(caller, to_change=True)
    with scope(caller.tenant_id):
        found = Observation.objects.filter(reach, id=observation_id).first()
        if found is None:
            raise NotFound("observation not found")
        refuse_erased(tenant_id=caller.tenant_id, user_id=found.user_id, since=now)
        lock_identity(identity_of(found))
        observation = _locked(reach, observation_id)
        if observation is None:
            raise NotFound("observation not found")
        if observation.deleted_at is not None:
            if find_topic(identity_of(observation)):
                raise Conflict("Another observation has this topic key now.")
            observation.deleted_at, observation.embed_pending = None, True
            observation.save(update_fields=["deleted_at", "embed_pending"])
            index_observation(observation, now=now)
            by_hand(caller, "restore", observation)
            tell_observation(observation, Event.CREATED)
        idempotency.keep(observation, user_id=observation.user_id)
    return observation


def _locked(reach: Q, observation_id: int) -> Observation | None:
    return Observation.objects.select_for_update().filter(reach, id=observation_id).first()
