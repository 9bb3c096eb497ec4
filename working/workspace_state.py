"""What a client's whole session leaves beside the messages: data, records, summary, hold."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.ulids import new_ulid
from working import store, workspace_queries
from working.memory import encode
from working.models import Session
from working.pending import leave_out, merge_records
from working.types import GivenWorkspace, NewMessage, SessionRef
from working.workspace import changed_at, has_expired, text_of
from working.workspace_queries import NewState, Row, Stored

BEGINNING = timedelta(minutes=1)  # within which a client begins a session after it has not found it
LATELY = timedelta(minutes=1)  # within which a client sends what it has read as a new object


class EmptyMessage(Invalid):
    """A message says nothing, and nobody has told the client that there is such a one."""

    def __init__(self, message: NewMessage) -> None:
        identity = message.id or new_ulid()  # as it would have been given
        super().__init__(f"Message content cannot be empty (message ID: {identity})", "messages")


def empty_of(messages: Iterable[NewMessage]) -> list[NewMessage]:
    """Those that say nothing."""
    return [one for one in messages if not one.content.strip()]


def read_moment(given: GivenWorkspace, stored: Stored) -> datetime | None:
    """The moment of the change that the client has seen last, if there was one since; None: it has seen all
    there is, or means to replace it whatever there is.

    `updated_at` says it. Clients that do not send that echo `last_accessed`, which counts if it is a moment
    that the server has told: otherwise it is when the client made the object, which tells nothing of what it
    has read. Only what is empty altogether takes nothing away that came after it was made: so clients begin
    a session that they have not found.
    """
    latest = stored.session.changed_at
    if latest is None and not stored.rows:
        return None
    echo = given.updated_at or given.last_accessed
    if echo is None or echo >= changed_at(stored.session):
        return None
    # What nobody has sent as a whole was read, if anything is known of it.
    was_read = given.updated_at is not None or _is_empty(given) or not stored.has_state
    return echo if was_read or _was_told(echo, stored) else None


def was_begun_meanwhile(given: GivenWorkspace, stored: Stored, now: datetime) -> bool:
    """Whether the client has found no session and begins one, empty, and others were quicker. It says when it
    made the object, and not when it looked: what they have put there may be older."""
    latest, made_at = stored.session.changed_at, given.last_accessed
    if latest is None or now - latest > BEGINNING or has_expired(stored, now):
        return False
    begins = given.updated_at is None and given.data is not None and _is_empty(given)
    return begins and made_at is not None and not _was_told(made_at, stored)


def unread_since(
    given: GivenWorkspace, stored: Stored, rows: Sequence[Row], told: Collection[int], now: datetime
) -> datetime | None:
    """From when on messages and records stay that the client lacks, although it sends no moment that it was
    told, but when it made the object; None: it replaces all there is. `told`: the places of messages that
    the summary tells of.

    So do clients that make a new object of what they have read, to change the data or the records. They say
    what was said as far as they know it, in order: what was said since is the rest, if it came lately.
    """
    made_at, sent = given.last_accessed, [one for at, one in enumerate(given.messages) if at not in told]
    if given.updated_at is not None or made_at is None or not given.messages or len(sent) >= len(rows):
        return None
    said = [(row.id, row.role, text_of(row)) for row in rows[: len(sent)]]
    if said != [(one.id, one.role, one.content) for one in sent] or made_at == changed_at(stored.session):
        return None
    return None if _was_told(made_at, stored) else now - LATELY


def _was_told(echo: datetime, stored: Stored) -> bool:
    """Whether the server has told this moment as that of the last change."""
    session = stored.session
    return echo == session.started_at or workspace_queries.was_told(session=session, moment=echo)


def _is_empty(given: GivenWorkspace) -> bool:
    return not (given.messages or given.memories or given.data or given.context)


def is_of_others(stored: Stored) -> bool:
    """Whether a client of another kind began it, which was promised that its turns stay."""
    return not stored.session.began_whole


def begun_anew(stored: Stored, at: datetime) -> Stored:
    """A session whose hold is over, without all that was held but the records that are yet to be remembered.
    Its turns are the caller's to withdraw; those of a session of others stay, and so does its summary."""
    session = stored.session
    if not is_of_others(stored):
        session.set_summary("", at=at)
        session.lead, session.lead_seq = "", session.summarised_seq
        stored = replace(stored, rows=())
    waiting = tuple(leave_out(stored.memories, at)) if settings.LONG_TERM_MEMORY else ()
    return replace(stored, has_state=False, data=None, memories=waiting, strategy={}, tokens=0)


def with_hold(given: GivenWorkspace, stored: Stored, usual_hold: int | None) -> GivenWorkspace:
    """What is given, with a hold if the client names none: in seconds, None for good. What others began was
    begun without one, and nobody who says nothing of it may shorten that."""
    if given.ttl_seconds is not None or is_of_others(stored):
        return given
    return replace(given, ttl_seconds=usual_hold)


def is_unread(session: Session, read_at: datetime | None) -> bool:
    """Whether the summary may be another one than that which the client has read. Of one that came from an
    earlier version, or was imported, nobody knows when."""
    return read_at is not None and (session.summary_at is None or session.summary_at > read_at)


def tell_summary(session: Session, given: GivenWorkspace, *, keeps: bool, at: datetime) -> str | None:
    """Makes the summary what the client says; what it is now, None if it stays. `keeps`: the client does not
    know what it is now, so that one that there is stays."""
    context = given.context or ""
    if context == session.summary or (keeps and session.summary):
        return None
    session.set_summary(context, at=at)
    session.lead, session.lead_seq = context, session.summarised_seq
    return context


def state_after(
    stored: Stored, given: GivenWorkspace, *, is_whole: bool, read_at: datetime | None, at: datetime
) -> NewState:
    """What stands beside the messages after the write. Of messages that are added, the hold begins anew."""
    if not is_whole:
        ttl = stored.ttl_seconds if stored.has_state else given.ttl_seconds
        return NewState(stored.data, stored.memories, stored.strategy, stored.tokens, ttl, _until(ttl, at))
    return NewState(
        data=given.data,
        memories=merge_records(
            stored=stored.memories,
            given=given.memories,
            read_at=read_at,
            now=at,
            remembers=settings.LONG_TERM_MEMORY,
        ),
        strategy=given.strategy,
        tokens=given.tokens,
        ttl_seconds=given.ttl_seconds,
        expires_at=_until(given.ttl_seconds, at),
    )


def keep_fields(
    *, caller: Caller, ref: SessionRef, data: Mapping[str, Any] | None, version: int, now: datetime
) -> None:
    """Makes the session's hash in Redis hold `data`, and no other field that came with an earlier version of
    the whole. What other clients have put there stays. Raises RedisAway."""
    values = {name: encode(value) for name, value in (data or {}).items()}
    store.keep_fields(caller=caller, ref=ref, now=now.timestamp(), values=values, version=version)


def told_already(
    session: Session, messages: Sequence[NewMessage], rows: Sequence[Row], *, is_logged: bool
) -> frozenset[int]:
    """The places of messages that a client sends although the summary tells of them: by their ids; without
    ids, when the list begins with all of them as they were said.

    Where no log knows them, those before the first that windows show.
    """
    if not (session.compacted_seq and messages):
        return frozenset()
    if not is_logged:
        shown = {row.id for row in rows}
        return frozenset(range(next((at for at, one in enumerate(messages) if one.id in shown), 0)))
    ids = {one.id: place for place, one in enumerate(messages) if one.id is not None}
    by_id = workspace_queries.covered(session=session, ids=list(ids)) if ids else frozenset()
    unnamed = range(_repeated(session, messages) if messages[0].id is None else 0)
    return frozenset((*unnamed, *(at for at, one in enumerate(messages) if one.id in by_id)))


def refuse_empty(session: Session, added: Sequence[NewMessage]) -> None:
    """Raises EmptyMessage for one that says nothing. Other clients may add such, and whoever was told of them
    sends them again."""
    if empty := empty_of(added):
        told = workspace_queries.logged(session=session, ids=[one.id for one in empty if one.id])
        for one in empty:
            if (one.id, one.content) not in told:
                raise EmptyMessage(one)


def _repeated(session: Session, messages: Sequence[NewMessage]) -> int:
    """How many messages, from the first, say once more all that the summary tells of."""
    told = workspace_queries.compacted(session=session, limit=len(messages) + 1)
    said = [(one.role, one.content) if one.id is None else None for one in messages[: len(told)]]
    return len(told) if said == told else 0


def _until(ttl_seconds: int | None, at: datetime) -> datetime | None:
    return None if ttl_seconds is None else at + timedelta(seconds=ttl_seconds)
