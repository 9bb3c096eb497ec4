"""Taking in a session that a client sends as a whole, or messages for one."""

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import PreconditionFailed
from tenants.scope import scope, undecided
from tenants.tombstones import refuse_erased
from working import querysets, store, workspace_queries
from working.entries import entry_of
from working.events import Appended, Written, adopt_marked
from working.merging import Held, Plan, merge, unshown
from working.models import Session
from working.sessions import confine, exact_ref
from working.types import (
    Compacted,
    GivenWorkspace,
    NewMessage,
    SessionAddress,
    SessionRef,
    StoredEvent,
    Turn,
)
from working.unlogged import held_turns, keeps_log, number_events
from working.workspace import (
    Workspace,
    changed_at,
    has_expired,
    held_rows,
    text_of,
    version_of,
    workspace_of,
)
from working.workspace_messages import additions, events_of, given_of, held_of, row_of
from working.workspace_queries import Row, Stored
from working.workspace_state import (
    EmptyMessage,
    begun_anew,
    empty_of,
    is_of_others,
    is_unread,
    keep_fields,
    read_moment,
    refuse_empty,
    state_after,
    tell_summary,
    told_already,
    unread_since,
    was_begun_meanwhile,
    with_hold,
)

Also = Callable[[Written, Workspace], Compacted | None]


@dataclass(frozen=True, slots=True)
class _Write:
    """What a client sends; `is_whole`: it is all that the session shall have, otherwise it is added.
    `usual_hold`: for how many seconds a session is kept that such a client began, if it does not say.
    `window`: how many tokens that of the client holds, None if it names none."""

    caller: Caller
    ref: SessionRef
    given: GivenWorkspace
    is_whole: bool
    match: Collection[int]
    now: datetime
    usual_hold: int | None
    window: int | None = None


@dataclass(frozen=True, slots=True)
class _Base:
    """What the write meets under the session's lock. `rows`: the turns that windows show; `unshown`: those
    before them that the client's own has left out; `gone`: those that have expired with all else, if it
    `is_anew`. `held`: without a log, the turns that Redis holds. `read_at`: what the client has seen last, if
    that is not all. `at`: the moment of the write."""

    stored: Stored
    rows: tuple[Row, ...]
    gone: tuple[int, ...]
    held: Sequence[Turn] | None
    read_at: datetime | None
    at: datetime
    had_data: bool
    is_anew: bool = False
    unshown: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class _Done:
    """What was written, before its commit. `has_data`: the session has, or had, fields in Redis from this."""

    workspace: Workspace
    written: Written
    withdrawn: frozenset[int]
    summary: str | None
    compacted: Compacted | None
    has_data: bool


def put_workspace(
    *,
    caller: Caller,
    address: SessionAddress,
    given: GivenWorkspace,
    now: datetime,
    also: Also,
    match: Collection[int] = (),
    usual_hold: int | None = None,
    window: int | None = None,
) -> Workspace:
    """Makes the session what the client sends, as it is then; creates it if it is new.

    What others have added since the client has read it stays, and so does what reading with a `window` of so
    many tokens has not shown it, see `working.merging`. When this returns, it is committed together with what
    `also` did. `match`: only one of these versions. Raises PreconditionFailed for another; EmptyMessage for a
    new message that says nothing; RedisAway when Redis does not answer, perhaps after the commit: the same
    may be sent again.
    """
    ref = exact_ref(caller, address)
    return _write(_Write(caller, ref, given, True, match, now, usual_hold, window), also)


def append_messages(
    *,
    caller: Caller,
    address: SessionAddress,
    messages: Sequence[NewMessage],
    now: datetime,
    also: Also,
    match: Collection[int] = (),
    usual_hold: int | None = None,
) -> Workspace:
    """Likewise adds messages to what is there. One whose id is there already is left out."""
    ref = exact_ref(caller, address)
    given = GivenWorkspace(messages=tuple(messages))
    return _write(_Write(caller, ref, given, False, match, now, usual_hold), also)


def _write(write: _Write, also: Also) -> Workspace:
    caller, ref, now, token = write.caller, write.ref, write.now, secrets.token_hex(8)
    settle = partial(store.settle, caller=caller, ref=ref, now=now.timestamp(), token=token)
    agent_id = _mark(write, token)
    try:
        is_logged = keeps_log(tenant_id=ref.tenant_id, agent_id=agent_id)
        held = None if is_logged else held_turns(caller=caller, ref=ref, now=now)
        done = _commit(write, held, also)
    except BaseException as error:
        if not undecided(error):  # as in `append_events`
            settle(committed=None)
        raise
    settle(committed=_committed(done))
    if done.has_data:
        keep_fields(caller=caller, ref=ref, data=write.given.data, version=done.workspace.version, now=now)
    return done.workspace


def _mark(write: _Write, token: str) -> str:
    """Sets the mark that precedes a commit; the session's agent. Raises RedisAway."""
    caller, ref, now = write.caller, write.ref, write.now
    if known := store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token):
        return known.agent_id or caller.agent_id
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=now)
        _refuse_first(write)
        session = _opened(write)
    adopt_marked(caller=caller, session=session, now=now, token=token)
    return session.agent_id


def _refuse_first(write: _Write) -> None:
    """Raises what would be refused of a session that there is not: it must not leave an empty one."""
    empty = empty_of(write.given.messages)
    if (write.match or empty) and workspace_queries.find(write.ref) is None:
        raise EmptyMessage(empty[0]) if empty else PreconditionFailed("The session has changed since.")


def _opened(write: _Write) -> Session:
    """The session with its row locked, in the open scope."""
    caller = write.caller
    session, _created = querysets.open_session(
        ref=write.ref,
        agent_id=caller.agent_id,
        project=caller.project,
        metadata={},
        now=write.now,
        is_whole=True,
    )
    confine(caller, session)
    return session


def _commit(write: _Write, held: Sequence[Turn] | None, also: Also) -> _Done:
    """One short transaction."""
    ref = write.ref
    with scope(ref.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=write.now)
        stored = _locked(write)
        if write.match and version_of(changed_at(stored.session)) not in write.match:
            raise PreconditionFailed("The session has changed since.")
        if write.is_whole and not write.match and was_begun_meanwhile(write.given, stored, write.now):
            write = replace(write, is_whole=False)  # it adds nothing to what there is
        done = _written(write, _base(write, stored, held), also)
        idempotency.keep(done.workspace, user_id=ref.user_id)
    return done


def _locked(write: _Write) -> Stored:
    """The session as it is with its row locked: mostly it is there."""
    ref = write.ref
    stored = workspace_queries.find_locked(ref)
    if stored is None:
        _opened(write)
        stored = workspace_queries.find(ref)
        assert stored is not None  # noqa: S101  it is locked
    confine(write.caller, stored.session)
    return stored


def _base(write: _Write, stored: Stored, held: Sequence[Turn] | None) -> _Base:
    at, had_data = stored.session.moment_of_change(write.now), bool(stored.data)
    rows = stored.rows if held is None else held_rows(stored.session, held)
    if has_expired(stored, write.now):
        left, gone = (rows, ()) if is_of_others(stored) else ((), tuple(row.seq for row in rows))
        return _Base(begun_anew(stored, at), left, gone, held, None, at, had_data, is_anew=True)
    read_at = read_moment(write.given, stored) if write.is_whole else None
    return _Base(stored, rows, (), held, read_at, at, had_data)


def _written(write: _Write, base: _Base, also: Also) -> _Done:
    """In the open scope, under the session's lock."""
    session, given = base.stored.session, write.given
    told = told_already(session, given.messages, base.rows, is_logged=base.held is None)
    base = _shown(write, base, told)
    if write.is_whole and base.read_at is None and not (write.match or base.is_anew):
        base = replace(base, read_at=unread_since(given, base.stored, base.rows, told, write.now))
    plan = _plan(write, base, told)
    refuse_empty(session, [given.messages[one] for one in plan.added if isinstance(one, int)])
    withdrawn = frozenset((*base.gone, *plan.withdrawn))
    appended, stored = _appended(write, base, plan, withdrawn)
    keeps = not write.is_whole or is_unread(session, base.read_at) or bool(told and given.context is None)
    summary = tell_summary(session, given, keeps=keeps, at=base.at)
    given = with_hold(given, base.stored, write.usual_hold)
    state = state_after(base.stored, given, is_whole=write.is_whole, read_at=base.read_at, at=base.at)
    is_whole = write.is_whole or base.is_anew
    workspace_queries.save(session=session, state=state, is_whole=is_whole, now=base.at)
    session.changed_at = base.at
    left = [row for row in (*base.unshown, *base.rows) if row.seq not in withdrawn]
    rows = left + [row_of(one, base.at) for one in stored]
    workspace = workspace_of(base.stored.after(state), rows, data=state.data)
    written = Written(session, appended, stored, base.held, base.at, withdrawn)
    compacted = also(written, workspace)
    if compacted is not None:
        kept = tuple(one for one in workspace.messages if one.seq > compacted.upto)
        workspace = replace(workspace, messages=kept, context=compacted.summary)
    has_data = is_whole and bool(base.had_data or state.data)
    return _Done(workspace, written, withdrawn, summary, compacted, has_data)


def _shown(write: _Write, base: _Base, told: Collection[int]) -> _Base:
    """The same with the turns apart that the client was not shown."""
    if write.window is None or not write.is_whole:
        return base
    given = given_of(one for place, one in enumerate(write.given.messages) if place not in told)
    first = unshown(held=_held(base), given=given, window=write.window, read_at=base.read_at)
    return replace(base, rows=base.rows[first:], unshown=base.rows[:first])


def _held(base: _Base) -> list[Held]:
    return held_of(base.rows, [text_of(row) for row in base.rows])


def _plan(write: _Write, base: _Base, told: Collection[int]) -> Plan:
    """`told`: the places of messages that the summary tells of already."""
    given = {place: one for place, one in enumerate(write.given.messages) if place not in told}
    if write.is_whole:
        plan = merge(held=_held(base), given=given_of(given.values()), read_at=base.read_at)
    else:
        plan = additions(given.values(), {row.id for row in base.rows})
    return plan.placed(tuple(given))


def _appended(
    write: _Write, base: _Base, plan: Plan, withdrawn: Collection[int]
) -> tuple[Appended, list[StoredEvent]]:
    session, given = base.stored.session, write.given.messages
    if withdrawn:
        session.turn_count = workspace_queries.withdraw(
            session=session, numbers=sorted(withdrawn), now=base.at
        )
    events = list(events_of(plan, given, base.rows, extracted_seq=base.stored.extracted_seq))
    stored: list[StoredEvent] = []
    turn_count = session.turn_count
    if events and base.held is None:
        stored, turn_count = querysets.append_events(session=session, events=events, now=base.at)
    elif events and base.held is not None:
        left = [turn for turn in base.held if turn.seq not in withdrawn]
        stored, turn_count = number_events(session=session, events=events, held=left, now=base.at)
    numbers = tuple(one.seq for one in stored)
    return Appended(session, numbers, len(stored), len(events) - len(stored), turn_count), stored


def _committed(done: _Done) -> store.Committed:
    """As Redis is told. Turns that were withdrawn are in its list: the next reader loads it anew."""
    session, compacted = done.written.session, done.compacted
    is_unlogged = done.written.held is not None
    return store.Committed(
        seq=(session.last_seq, session.last_seq + len(done.written.stored)),
        agent_id=session.agent_id,
        project=session.project,
        entries=[entry_of(one.seq, one.event, unlogged=is_unlogged) for one in done.written.stored],
        summary=compacted.summary if compacted else done.summary,
        turn_count=done.written.appended.turn_count,
        compacted=session.compacted_seq,
        reload=bool(done.withdrawn) and not is_unlogged,
        unlogged=is_unlogged,
        withdrawn=sorted(done.withdrawn),
    )
