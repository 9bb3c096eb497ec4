"""The ledger's verbs in short, and where the tests look afterwards."""

from django.utils import timezone
from django_redis import get_redis_connection

from ledger import injections, keys, querysets, store
from tenants.caller import Caller
from tenants.scope import scope
from working.sessions import access_session, ref_of
from working.types import SessionAddress, SessionRef

S = SessionAddress("s")


def mark(caller: Caller, item: str, value: str = "1", address: SessionAddress = S) -> bool:
    return injections.mark_item(
        caller=caller, address=address, item_key=item, value=value, now=timezone.now()
    )  # fmt: skip


def claim(caller: Caller, item: str, value: str = "1", address: SessionAddress = S) -> bool:
    return injections.claim_item(
        caller=caller, address=address, item_key=item, value=value, now=timezone.now()
    )  # fmt: skip


def check(caller: Caller, item: str, address: SessionAddress = S) -> str | None:
    return injections.check_item(caller=caller, address=address, item_key=item, now=timezone.now())


def evict(caller: Caller, item: str, address: SessionAddress = S) -> bool:
    return injections.evict_item(caller=caller, address=address, item_key=item, now=timezone.now())


def read(caller: Caller, address: SessionAddress = S) -> dict[str, str]:
    return injections.read_items(caller=caller, address=address, now=timezone.now())


def clear(caller: Caller, address: SessionAddress = S) -> int:
    return injections.clear_ledger(caller=caller, address=address, now=timezone.now())


def reference(caller: Caller, address: SessionAddress = S) -> SessionRef:
    return ref_of(access_session(caller=caller, address=address))


def logged(caller: Caller, address: SessionAddress = S) -> dict[str, str]:
    """The live marks in PostgreSQL."""
    ref = reference(caller, address)
    with scope(caller.tenant_id):
        return querysets.live_items(ref)


def cached(caller: Caller, address: SessionAddress = S) -> dict[str, str]:
    """The hash as it stands in Redis, trusted or not."""
    return get_redis_connection().hgetall(keys.items(reference(caller, address)))


def trusted(caller: Caller, address: SessionAddress = S) -> bool:
    """Whether a check would be answered by Redis alone."""
    ref = reference(caller, address)
    return store.read_items(caller=caller, ref=ref, now=timezone.now().timestamp())[0]
