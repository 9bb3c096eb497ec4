"""What webhooks are told of observations, in the scope of what happens to them."""

from collections.abc import Collection
from uuid import UUID

from observations.models import Observation
from webhooks.announcing import announce
from webhooks.models import Event, Kind
from webhooks.types import Memory


def tell_observation(observation: Observation, event: Event) -> None:
    """Tells of one observation."""
    tell_observations(observation.tenant_id, [observation], event)


def tell_observations(tenant_id: UUID, observations: Collection[Observation], event: Event) -> None:
    """Likewise of many."""
    announce(tenant_id=tenant_id, event=event, memories=lambda: map(_told, observations))


def _told(one: Observation) -> Memory:
    return Memory(
        kind=Kind.OBSERVATION,
        id=str(one.id),
        user_id=one.user_id,
        agent_id=one.agent_id,
        project=one.project,
        session_id=one.session,
        url=f"/api/v1/observations/{one.id}",
        text=f"{one.title}\n\n{one.content}",
    )
