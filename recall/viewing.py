"""A session as somebody sees it who looks on: its state, what was said in it, the window that its agent gets,
and what it was told. Whoever shows what was said does it through here: it takes the right to write, and the
audit log notes each viewing, also where nothing comes of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.injections import digest_of, evict_item
from ledger.listing import injections_of
from ledger.models import Injection
from recall.sessions import note_deed
from recall.texts import texts_of
from tenants.caller import Caller
from tenants.errors import Forbidden, Invalid, NotFound
from tenants.scope import scope
from working.listing import access_session_row
from working.memory import peek_data
from working.models import Checkpoint, Event, Session
from working.redis import RedisAway
from working.sessions import ref_of
from working.turns import SessionWindow, read_window
from working.types import SessionAddress
from working.window import tokens_of

PAGE = 50  # events
BEFORE = 5  # events that are shown before the one that was asked for
MOST_TOLD = 500
LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class ViewedSession:
    """A session without what was said in it. `data` is None while Redis is away."""

    session: Session
    data: dict[str, Any] | None
    checkpoint: Checkpoint | None


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the session was told: the memory as it reads now, empty if it is gone; `tokens` is an
    estimate of that. `is_asked`: beside a turn, that it was looked up with that turn's words."""

    injection: Injection
    kind: str
    memory_id: str
    text: str
    tokens: int
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class ViewedEvent:
    """An event, and what was told for it."""

    event: Event
    told: Sequence[Told]

    @property
    def is_question(self) -> bool:
        """Whether it is a text of the user's, with which one can ask again."""
        return _was_asked(self.event)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of the log, oldest first. `earlier` and `later` are the numbers next to which the pages before
    and after it lie; None where there is none."""

    session: Session
    events: Sequence[ViewedEvent]
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True)
class ViewedWindow:
    """The turns that the agent would be sent now, and the summary before them."""

    session: Session
    window: SessionWindow


@dataclass(frozen=True, slots=True)
class ViewedLedger:
    """What the session has been told, the newest first."""

    session: Session
    told: Sequence[Told]


def view_session(*, caller: Caller, row_id: UUID) -> ViewedSession:
    """Its state; looking on does not renew its hold. Raises NotFound, Forbidden."""
    session = access_session_row(caller=caller, row_id=row_id)
    with scope(caller.tenant_id):
        mine = Checkpoint.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        checkpoint = mine.first()
    try:
        data = peek_data(session=session)
    except RedisAway:
        data = None
    return ViewedSession(session, data, checkpoint)


def view_transcript(
    *,
    caller: Caller,
    row_id: UUID,
    at: int | None = None,
    after: int | None = None,
    before: int | None = None,
) -> Transcript:
    """The page around the event with the number `at`, after or before one; else the first. The viewing is
    noted with the reading, in one commit. Raises NotFound, Forbidden without the right to write, Invalid for
    numbers that no event can have."""
    if any(number is not None and not 0 <= number < LARGEST for number in (at, after, before)):
        raise Invalid("No event has such a number.", "at")
    session = _access_words(caller, row_id)
    with scope(caller.tenant_id):
        note_deed(caller, "session.view_transcript", session)
        events = _page(session, at, after, before)
        told = _told_in(caller, session, events)
        log = Event.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        is_first = not events or not log.filter(seq__lt=events[0].seq).exists()
        is_last = not events or not log.filter(seq__gt=events[-1].seq).exists()
    return Transcript(
        session,
        [ViewedEvent(one, told.get(one.seq, [])) for one in events],
        None if is_first else events[0].seq,
        None if is_last else events[-1].seq,
    )


def view_window(*, caller: Caller, row_id: UUID, now: datetime) -> ViewedWindow:
    """What `read_window` answers its agent; like any reading of it, this renews the session's hold. Noted as
    above. Raises NotFound, Forbidden."""
    session = _access_words(caller, row_id)
    with scope(caller.tenant_id):
        note_deed(caller, "session.view_window", session)
    return ViewedWindow(session, read_window(caller=caller, address=_address(session), now=now))


def view_question(*, caller: Caller, row_id: UUID, seq: int) -> tuple[Session, str]:
    """The user's words in the turn with that number, to ask with them again; noted as a transcript is. Raises
    NotFound, also for a turn that is not the user's, or is no text; Forbidden."""
    session = _access_words(caller, row_id)
    with scope(caller.tenant_id):
        log = Event.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        event = log.filter(seq=min(seq, LARGEST)).first()
        if event is None or not _was_asked(event):
            raise NotFound("In this turn the user asked nothing.")
        note_deed(caller, "session.view_transcript", session)
    return session, str(event.content)


def view_ledger(*, caller: Caller, row_id: UUID) -> ViewedLedger:
    """What it was told, ended or not. Raises NotFound, Forbidden."""
    session = access_session_row(caller=caller, row_id=row_id)
    with scope(caller.tenant_id):
        found = injections_of(ref=ref_of(session), limit=MOST_TOLD)
        return ViewedLedger(session, _with_texts(caller, found))


def evict_from(*, caller: Caller, row_id: UUID, item_key: str, now: datetime) -> bool:
    """Has the session be told the item again; whether it had been. Raises NotFound, Forbidden."""
    session = access_session_row(caller=caller, row_id=row_id)
    evicted = evict_item(caller=caller, address=_address(session), item_key=item_key, now=now)
    if evicted:
        with scope(caller.tenant_id):
            note_deed(caller, "session.evict", session)
    return evicted


def _access_words(caller: Caller, row_id: UUID) -> Session:
    if not (caller.may("write") and caller.may_read_conversations):
        raise Forbidden("What was said in a session is shown to editors only.")
    return access_session_row(caller=caller, row_id=row_id)


def _address(session: Session) -> SessionAddress:
    return SessionAddress(session.external_id, session.user_id, session.namespace)


def _page(session: Session, at: int | None, after: int | None, before: int | None) -> list[Event]:
    log = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id)
    if before is not None:
        return list(reversed(log.filter(seq__lt=before).order_by("-seq")[:PAGE]))
    first = after + 1 if after is not None else (at or 0) - BEFORE
    return list(log.filter(seq__gte=first).order_by("seq")[:PAGE])


def _told_in(caller: Caller, session: Session, events: Sequence[Event]) -> dict[int, list[Told]]:
    """What was told for which of the events: for the user's words that it was looked up with, else for what
    had been said last when it was told."""
    if not events:
        return {}
    log = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id)
    following = log.filter(seq__gt=events[-1].seq).order_by("seq").first()
    preceding = log.filter(seq__lt=events[0].seq).order_by("-seq").first()
    found = injections_of(
        ref=ref_of(session),
        since=preceding.recorded_at if preceding else None,
        until=following.recorded_at if following else None,
        limit=MOST_TOLD,
    )
    asked = {_digest(one): one.seq for one in events if _was_asked(one)}
    next_asked = _digest(following) if following and _was_asked(following) else None
    told: dict[int, list[Told]] = {}
    for one in reversed(_with_texts(caller, found)):
        mark = one.injection
        is_before = preceding is not None and mark.marked_at < events[0].recorded_at
        if mark.asked in asked:
            told.setdefault(asked[mark.asked], []).append(replace(one, is_asked=True))
        elif not is_before and mark.asked != next_asked:  # else it belongs to the page before, or after
            told.setdefault(_said_last(events, mark.marked_at), []).append(one)
    return told


def _was_asked(event: Event) -> bool:
    return event.role == "user" and isinstance(event.content, str)


def _digest(event: Event) -> str:
    return digest_of(tenant_id=event.tenant_id, query=str(event.content))


def _said_last(events: Sequence[Event], moment: datetime) -> int:
    said = [one.seq for one in events if one.role == "user" and one.recorded_at <= moment]
    return said[-1] if said else events[0].seq


def _with_texts(caller: Caller, found: Iterable[Injection]) -> list[Told]:
    """In the open scope; without the texts of other people's memories, for a key that is bound to a user."""
    named = [(one, *one.item_key.partition(":")[::2]) for one in found]
    texts = texts_of(caller=caller, named=[(kind, memory_id) for _one, kind, memory_id in named])
    return [
        Told(one, kind, memory_id, text, tokens_of(len(text)) if text else 0)
        for one, kind, memory_id in named
        for text in [texts.get((kind, memory_id), "")]
    ]
