"""The window of a session: from Redis when it is coherent, else from PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings

from tenants.caller import Caller
from tenants.policy.reading import read_policy
from tenants.scope import scope
from working import store
from working.entries import entry_of, parse_entry
from working.events import newest_turns
from working.models import Session
from working.redis import RedisAway
from working.sessions import access_session, with_known_session
from working.types import SessionAddress, SessionRef, Turn
from working.unlogged import keeps_log
from working.window import Window, select_window

FIRST_LOOK = 48  # entries that hold six exchanges of ordinary length
LONGEST_LOOK = 4096  # turns read from PostgreSQL when the wanted exchanges are longer than the Redis list


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """A window and the summary of what came before it; whether the window should begin with that summary."""

    window: Window
    summary: str
    include_summary: bool


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Enough turns for a window, and whether they are all there are."""

    turns: list[Turn]
    complete: bool
    summary: str
    agent_id: str


def read_window(
    *,
    caller: Caller,
    address: SessionAddress,
    now: datetime,
    pairs: int | None = None,
    token_budget: int | None = None,
    max_tool_result_chars: int | None = None,
) -> SessionWindow:
    """The last `pairs` exchanges and the summary, if there is one.

    What is not named is the policy's of the session's agent. With Redis away the answer comes from PostgreSQL
    alone. Raises NotFound for an unknown session.
    """
    loaded = _load(caller, address, now, pairs)
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=loaded.agent_id).working
    window = select_window(
        loaded.turns,
        pairs=pairs or policy.turns,
        token_budget=token_budget,
        max_tool_result_chars=max_tool_result_chars or policy.max_tool_result_chars or None,
    )
    if not loaded.complete and not window.truncated:
        window = replace(window, truncated=True)
    return SessionWindow(
        window=window,
        summary=loaded.summary,
        include_summary=window.truncated or len(window.turns) >= policy.include_summary_after_turn,
    )


def _load(caller: Caller, address: SessionAddress, now: datetime, pairs: int | None) -> _Loaded:
    try:
        found = _cached(caller, address, now, FIRST_LOOK)
        if found and _has_more(found[1]) and not _enough(found[1], _wanted(*found, pairs)):
            found = _cached(caller, address, now, settings.WORKING_LIST_LENGTH)
    except RedisAway:
        found = None
    if found is None:  # also when Redis lost the session while we looked
        return _older(access_session(caller=caller, address=address), pairs)
    ref, cached = found
    if not cached.coherent:
        return _rebuilt(caller, ref, cached, now, pairs)
    full_list = cached.length >= settings.WORKING_LIST_LENGTH
    if full_list and _is_logged(ref, cached) and not _enough(cached, _wanted(ref, cached, pairs)):
        return _older(access_session(caller=caller, address=address), pairs)
    complete = not full_list and cached.length == len(cached.entries) and not cached.compacted
    return _Loaded(
        [parse_entry(entry) for entry in cached.entries], complete, cached.summary, cached.agent_id
    )


def _wanted(ref: SessionRef | Session, owner: store.CachedTurns | Session, pairs: int | None) -> int:
    """The exchanges asked for, or those of the policy."""
    return pairs or read_policy(tenant_id=ref.tenant_id, agent_id=owner.agent_id).working.turns


def _cached(
    caller: Caller, address: SessionAddress, now: datetime, count: int
) -> tuple[SessionRef, store.CachedTurns] | None:
    def run(ref: SessionRef) -> tuple[SessionRef, store.CachedTurns] | None:
        found = store.read_turns(caller=caller, ref=ref, now=now.timestamp(), count=count)
        return (ref, found) if found else None

    return with_known_session(caller=caller, address=address, now=now, create=False, run=run)


def _has_more(cached: store.CachedTurns) -> bool:
    return cached.coherent and cached.length > len(cached.entries)


def _enough(cached: store.CachedTurns, pairs: int) -> bool:
    """Whether the entries reach back over `pairs` exchanges; one more shows that the first is whole."""
    users = sum('"role":"user"' in entry[:40] for entry in cached.entries)
    return users > pairs


def _rebuilt(
    caller: Caller, ref: SessionRef, cached: store.CachedTurns, now: datetime, pairs: int | None
) -> _Loaded:
    """The turns from PostgreSQL, put back into Redis on the way. Those that are in no log stay there."""
    address, most = SessionAddress(ref.session_id, ref.user_id, ref.namespace), settings.WORKING_LIST_LENGTH
    is_logged = _is_logged(ref, cached)
    if not is_logged and cached.length > len(cached.entries):
        whole = store.read_turns(caller=caller, ref=ref, now=now.timestamp(), count=most)
        cached = whole or cached
    with scope(caller.tenant_id):
        session = access_session(caller=caller, address=address)
        newest = newest_turns(session=session, limit=most)
    if not is_logged:
        newest = _merged(newest, cached.entries, after=session.compacted_seq)[-most:]
    store.rebuild(
        caller=caller,
        ref=ref,
        now=now.timestamp(),
        generation=cached.generation,
        seq=session.last_seq,
        summary=session.summary,
        turn_count=session.turn_count,
        compacted=session.compacted_seq,
        entries=[entry_of(turn.seq, turn, unlogged=not is_logged) for turn in newest],
    )
    if is_logged and len(newest) == most and _users(newest) <= _wanted(session, session, pairs):
        return _older(session, pairs)
    return _Loaded(newest, _all(newest, session), session.summary, session.agent_id)


def _merged(logged: list[Turn], entries: Sequence[str], *, after: int) -> list[Turn]:
    """The turns of the log, and those of the list beside."""
    turns = {turn.seq: turn for turn in map(parse_entry, entries) if turn.seq > after}
    turns |= {turn.seq: turn for turn in logged}
    return [turns[seq] for seq in sorted(turns)]


def _is_logged(ref: SessionRef, cached: store.CachedTurns) -> bool:
    return keeps_log(tenant_id=ref.tenant_id, agent_id=cached.agent_id)


def _older(session: Session, pairs: int | None) -> _Loaded:
    limit, wanted = settings.WORKING_LIST_LENGTH, _wanted(session, session, pairs)
    with scope(session.tenant_id):
        turns = newest_turns(session=session, limit=limit)
        while len(turns) == limit and _users(turns) <= wanted and limit < LONGEST_LOOK:
            limit *= 4
            turns = newest_turns(session=session, limit=limit)
    return _Loaded(turns, _all(turns, session), session.summary, session.agent_id)


def _all(turns: list[Turn], session: Session) -> bool:
    """Whether these are all turns; there may be more than the session knew when it was read. Of a compacted
    session they never are."""
    return len(turns) >= session.turn_count


def _users(turns: list[Turn]) -> int:
    return sum(turn.role == "user" for turn in turns)
