"""What a session has been told: check, mark, claim, evict, release.

PostgreSQL keeps the log and decides races; Redis answers the checks.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from ledger import querysets, store
from tenants import idempotency
from tenants.caller import Caller
from tenants.scope import scope, undecided
from tenants.tombstones import refuse_erased
from working.sessions import adopt, exact_ref, find_session, open_session, ref_of
from working.types import SessionAddress, SessionRef

T = TypeVar("T")
Reason = querysets.Reason


def read_items(*, caller: Caller, address: SessionAddress, now: datetime) -> dict[str, str]:
    """Every item of the session with its marker; empty for an unknown session."""
    ref = exact_ref(caller, address)
    trusted, items, generation = _unless_expired(
        caller, ref, now, lambda: store.read_items(caller=caller, ref=ref, now=now.timestamp())
    )
    return items if trusted else _loaded(caller, address, ref, generation, now)


def check_item(*, caller: Caller, address: SessionAddress, item_key: str, now: datetime) -> str | None:
    """The item's marker, or None if it was not injected."""
    ref = exact_ref(caller, address)
    trusted, value, generation = _unless_expired(
        caller,
        ref,
        now,
        lambda: store.read_item(caller=caller, ref=ref, now=now.timestamp(), item_key=item_key),
    )
    return value if trusted else _loaded(caller, address, ref, generation, now).get(item_key)


def mark_item(*, caller: Caller, address: SessionAddress, item_key: str, value: str, now: datetime) -> bool:
    """Marks the item, overwriting a mark that is there; whether it is new."""
    return _write(
        caller, address, now, "set", {item_key: value},
        lambda ref: (querysets.mark(ref=ref, item_key=item_key, value=value, now=now), True),
    )  # fmt: skip


def mark_items(
    *,
    caller: Caller,
    address: SessionAddress,
    items: Mapping[str, str],
    now: datetime,
    answer: object = None,
    longest: int | None = None,
    variants: Mapping[str, str] = MappingProxyType({}),
    query: str = "",
    reasons: Mapping[str, Reason] = MappingProxyType({}),
) -> None:
    """Marks all of them in one commit, overwriting marks that are there. `answer` is what the caller tells;
    at most `longest` characters of it are kept for who sends the request again. `variants` of items that a
    trial's settings have recalled; `query` is what they were told for, of which a digest is kept; `reasons`
    why these of all."""

    def commit(ref: SessionRef) -> tuple[bool, bool]:
        asked = digest_of(tenant_id=ref.tenant_id, query=query) if query else ""
        querysets.mark_all(ref=ref, items=items, now=now, variants=variants, asked=asked, reasons=reasons)
        idempotency.keep(answer, user_id=ref.user_id, longest=longest)
        return True, True

    if items:
        _write(caller, address, now, "set", items, commit)


def digest_of(*, tenant_id: UUID, query: str) -> str:
    """The HMAC-SHA-256, in hex, that stands for a query: it tells a turn that was asked from others."""
    secret = hashlib.sha256(b"strata query" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(secret, f"{tenant_id.hex}/{query}".encode(), hashlib.sha256).hexdigest()


def claim_item(*, caller: Caller, address: SessionAddress, item_key: str, value: str, now: datetime) -> bool:
    """Marks the item unless it is marked; of several callers at once exactly one gets True."""

    def commit(ref: SessionRef) -> tuple[bool, bool]:
        won = querysets.claim(ref=ref, item_key=item_key, value=value, now=now)
        return won, won

    return _write(caller, address, now, "set", {item_key: value}, commit)


def evict_item(*, caller: Caller, address: SessionAddress, item_key: str, now: datetime) -> bool:
    """Ends the item's mark, so that it can be injected again; whether there was one."""
    if find_session(caller=caller, address=address) is None:
        return _kept(caller, address, answer=False)

    def commit(ref: SessionRef) -> tuple[bool, bool]:
        return bool(querysets.release(ref=ref, item_key=item_key, now=now)), True

    return _write(caller, address, now, "evict", {item_key: ""}, commit)


def suspend_items(*, caller: Caller, ref: SessionRef, now: datetime) -> str:
    """Says that the session's marks are about to end: `release_items` follows, and after its commit
    `forget_items` with the token answered here. Raises RedisAway."""
    token = secrets.token_hex(8)
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token, looked_up=True)
    return token


def release_items(*, ref: SessionRef, now: datetime) -> int:
    """Ends every mark of the session in the caller's scope; how many."""
    return querysets.release(ref=ref, now=now)


def forget_items(*, ref: SessionRef, now: datetime, token: str) -> None:
    """Removes the session's ledger from Redis."""
    store.forget(ref=ref, now=now.timestamp(), token=token)


def resume_items(*, caller: Caller, ref: SessionRef, now: datetime, token: str) -> None:
    """Takes back what `suspend_items` said: the marks have not ended."""
    store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, change="none")


def with_items(*, tenant_id: UUID, refs: Sequence[SessionRef]) -> set[SessionRef]:
    """Those of the sessions that have been told something which still counts."""
    with scope(tenant_id):
        return querysets.with_live_items(tenant_id=tenant_id, refs=refs)


def clear_ledger(*, caller: Caller, address: SessionAddress, now: datetime) -> int:
    """Ends every mark of the session; how many there were."""
    session = find_session(caller=caller, address=address)
    if session is None:
        return _kept(caller, address, answer=0)
    ref = ref_of(session)
    return _release(caller, ref, now)


def _kept(caller: Caller, address: SessionAddress, *, answer: T) -> T:
    """The answer about a session that there is not: sent again, the write must not change one that has come
    since."""
    with scope(caller.tenant_id):
        idempotency.keep(answer, user_id=caller.confine_user(address.user_id))
    return answer


def _release(caller: Caller, ref: SessionRef, now: datetime) -> int:
    token = suspend_items(caller=caller, ref=ref, now=now)
    try:
        with scope(caller.tenant_id):
            released = release_items(ref=ref, now=now)
            idempotency.keep(released, user_id=ref.user_id)
    except BaseException as error:
        if not undecided(error):  # as in `_write`
            resume_items(caller=caller, ref=ref, now=now, token=token)
        raise
    forget_items(ref=ref, now=now, token=token)
    return released


def _unless_expired(caller: Caller, ref: SessionRef, now: datetime, run: Callable[[], T]) -> T:
    """What `run` answers; if the conversation has expired, its marks end first."""
    try:
        return run()
    except store.Expired:
        _release(caller, ref, now)
        return run()


def _loaded(
    caller: Caller, address: SessionAddress, ref: SessionRef, generation: str, now: datetime
) -> dict[str, str]:
    """The session's items from PostgreSQL, put into Redis on the way."""
    session = find_session(caller=caller, address=address)
    if session is None:
        return {}
    if ref_of(session) != ref:
        ref = ref_of(session)
        trusted, items, generation = _unless_expired(
            caller, ref, now, lambda: store.read_items(caller=caller, ref=ref, now=now.timestamp())
        )
        if trusted:
            return items
    adopt(session, now)
    with scope(caller.tenant_id):
        items = querysets.live_items(ref)
    owner = (session.agent_id, session.project)
    store.load(caller=caller, ref=ref, now=now.timestamp(), generation=generation, owner=owner, items=items)
    return items


def _write(
    caller: Caller,
    address: SessionAddress,
    now: datetime,
    change: store.Change,
    items: Mapping[str, str],
    commit: Callable[[SessionRef], tuple[bool, bool]],
) -> bool:
    """Runs `commit` in one scope between mark and settle. It answers (result, whether Redis must follow)."""
    token = secrets.token_hex(8)
    ref = _marked(caller, address, token, now)

    def settle(applied: store.Change) -> None:
        store.settle(
            caller=caller,
            ref=ref,
            now=now.timestamp(),
            token=token,
            change=applied,
            items=items,
        )

    try:
        with scope(caller.tenant_id):
            refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=now)
            result, follow = commit(ref)
            idempotency.keep(result, user_id=ref.user_id)
    except BaseException as error:
        # Perhaps it is committed all the same: then the mark stays, and PostgreSQL answers until it dies.
        if not undecided(error):
            settle("none")
        raise
    settle(change if follow else "none")
    return result


def _marked(caller: Caller, address: SessionAddress, token: str, now: datetime) -> SessionRef:
    """The session's identity, with the mark set that precedes a commit; the session is created if new."""
    ref = exact_ref(caller, address)
    if _unless_expired(
        caller,
        ref,
        now,
        lambda: store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token, looked_up=False),
    ):
        return ref
    session, _created = open_session(caller=caller, address=address, now=now)
    ref = ref_of(session)
    # Loads the ledger, so that this write and the next checks find it.
    read_items(caller=caller, address=SessionAddress(ref.session_id, ref.user_id, ref.namespace), now=now)
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token, looked_up=True)
    return ref
