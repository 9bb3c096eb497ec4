"""What the tests of this folder say of a user, and where they look afterwards."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from episodic.entities import NewEntity, SlotWrite, put_entity
from episodic.models import Entity, EntityEmbedding
from tenants.caller import Caller
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope

KIM = "kim"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(hours: float) -> datetime:
    """So many hours after noon of a day long ago."""
    return NOON + timedelta(hours=hours)


def say(
    caller: Caller, value: Any, *, key: str = "city", now: datetime | None = None, **named: Any
) -> SlotWrite:
    """Writes what is said of Kim; of another user with `user_id`."""
    new = NewEntity(**{"user_id": KIM, "key": key, "value": value} | named)
    return put_entity(caller=caller, new=new, now=now or timezone.now())


def rows(caller: Caller, key: str = "city", user_id: str = KIM) -> list[Entity]:
    """All rows of a slot, the oldest first."""
    with scope(caller.tenant_id):
        found = Entity.objects.filter(tenant_id=caller.tenant_id, user_id=user_id, key=key)
        return list(found.order_by("valid_from", "id"))


def told(caller: Caller, key: str = "city") -> list[tuple[Any, str]]:
    """What a slot's rows say and what counts of them, the oldest first."""
    return [(row.value, row.status) for row in rows(caller, key)]


def embedded(caller: Caller) -> set[Any]:
    """The values of the rows that have a vector."""
    with scope(caller.tenant_id):
        ids = EntityEmbedding.objects.filter(tenant_id=caller.tenant_id).values("entity_id")
        return set(Entity.objects.filter(id__in=ids).values_list("value", flat=True))


def decide(caller: Caller, **sections: Any) -> None:
    """Changes the tenant's policy."""
    write_policy(level=Level(caller.tenant_id), actor="test", changes=sections)
