"""What the AEGIS routes left in Redis and PostgreSQL, seen past them."""

from typing import Any

from django_redis import get_redis_connection

from ledger import keys as ledger_keys
from ledger.models import Injection
from tenants.scope import scope
from tests.conftest import Member
from working import keys
from working.types import SessionRef

DAY = 86_400


def ref(member: Member, session: str, user_id: str = "") -> SessionRef:
    return SessionRef(member.tenant.id, "", user_id, session)


def size(member: Member, session: str) -> int:
    """Bytes of the hash as Redis counts them, every field sampled."""
    return get_redis_connection().memory_usage(keys.fields(ref(member, session)), samples=0) or 0


def ttl(member: Member, session: str) -> int:
    return get_redis_connection().ttl(keys.fields(ref(member, session)))


def shorten(member: Member, session: str, seconds: int) -> None:
    """As if time had passed: every key of the session has `seconds` left."""
    for key in keys.all_of(ref(member, session)):
        get_redis_connection().expire(key, seconds)


def was_born(member: Member, session: str, seconds_ago: int) -> None:
    """As if the session had begun so long ago."""
    get_redis_connection().hincrby(keys.meta(ref(member, session)), "born", -seconds_ago)


def raw(member: Member, session: str) -> dict[str, str]:
    return get_redis_connection().hgetall(keys.fields(ref(member, session)))


def ledger_hash(member: Member, session: str) -> dict[str, str]:
    return get_redis_connection().hgetall(ledger_keys.items(ref(member, session)))


def ledger_ttl(member: Member, session: str) -> int:
    """-1: none; -2: no such key."""
    return get_redis_connection().ttl(ledger_keys.items(ref(member, session)))


def injections(member: Member, session: str) -> list[dict[str, Any]]:
    """The durable log of the session, oldest first."""
    with scope(member.tenant.id):
        found = Injection.objects.filter(tenant_id=member.tenant.id, session=session).order_by("id")
        return list(found.values("item_key", "value", "released_at"))
