"""The end of a session whose transcript comes with it, as the AgentOps runtime sends it."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recall.sessions import EndedSession, wind_up
from recall.summary import summarise
from recall.turns import follow_up
from tenants import idempotency
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import memory_span
from working.events import ROLE_EVENTS, Written, append_events
from working.models import Session
from working.sessions import find_session, ref_of
from working.spans import Span
from working.types import Compacted, NewEvent, SessionAddress
from working.unlogged import held_turns, keeps_log, without_logged


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transcript, as text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class EndedTranscript:
    """The summary of the session, empty if there is none, and how many messages it had."""

    session_id: str
    summary: str
    message_count: int


def end_with_transcript(
    *, caller: Caller, address: SessionAddress, messages: Sequence[Message], now: datetime
) -> EndedTranscript:
    """Adds to the session's log what it lacks of the transcript, and ends it with a summary of all of it.

    Ending it again replaces the summary if there are new messages. Of an unknown session nothing is kept.
    Raises RedisAway before anything is changed.
    """
    with memory_span("end_session", session_id=address.session_id) as span:
        ended = _end(caller, address, messages, now)
        span.set(message_count=ended.message_count)
    return ended


def _end(
    caller: Caller, address: SessionAddress, messages: Sequence[Message], now: datetime
) -> EndedTranscript:
    session = find_session(caller=caller, address=address)
    if session is None:
        return _unknown(caller, address, messages)

    def also(written: Written) -> Compacted | None:
        follow_up(written=written, now=now)
        return None  # the end that follows summarises everything

    if lacking := _lacking(caller, session, messages, now):
        ref = ref_of(session)
        exact = SessionAddress(ref.session_id, ref.user_id, ref.namespace)
        session = append_events(
            caller=caller,
            address=exact,
            events=[_turn(*one, now) for one in lacking],
            now=now,
            also=also,
        ).session

    def retold(span: Span) -> Span:
        return _span(messages, span.covers)

    left: list[EndedTranscript] = []

    def told(locked: Session, ended: EndedSession) -> EndedTranscript:
        left.append(EndedTranscript(locked.external_id, ended.summary, locked.told_messages))
        return left[-1]

    wind_up(
        caller=caller,
        session=session,
        now=now,
        cause="end",
        retold=retold if messages else None,
        answer=told,
        message_count=len(messages) or None,
    )
    return left[-1]  # it had no condition


def _unknown(caller: Caller, address: SessionAddress, messages: Sequence[Message]) -> EndedTranscript:
    done = EndedTranscript(address.session_id, _summary(messages) if messages else "", len(messages))
    with scope(caller.tenant_id):  # sent again, it must not end one that has come since
        idempotency.keep(done, user_id=caller.confine_user(address.user_id))
    return done


def _summary(messages: Sequence[Message]) -> str:
    told = _span(messages, (0, 0))
    return summarise(messages=told.messages, first=told.first, last=told.last)


def _span(messages: Sequence[Message], covers: tuple[int, int]) -> Span:
    spoken = [one.content for one in messages if one.role == "user"]
    return Span(
        messages=sum(one.role in ("user", "assistant") for one in messages),
        first=spoken[0] if spoken else None,
        last=spoken[-1] if spoken else None,
        covers=covers,
    )


def _lacking(
    caller: Caller, session: Session, messages: Sequence[Message], now: datetime
) -> list[tuple[int, Message]]:
    """The messages that the log does not hold yet, each with how often it was said before. What was logged
    while the session went on is not logged a second time."""
    is_logged = keeps_log(tenant_id=session.tenant_id, agent_id=session.agent_id)
    held = [] if is_logged else held_turns(caller=caller, ref=ref_of(session), now=now)
    with scope(session.tenant_id):
        turns = session.logged_turns()
        told = [*turns.values_list("role", "content")]
        told += [(turn.role, turn.content) for turn in without_logged(session=session, turns=held)]
    logged = Counter((role, content) for role, content in told if isinstance(content, str))
    lacking, seen = [], Counter[tuple[str, str]]()
    for message in messages:
        said = (message.role, message.content)
        seen[said] += 1
        if seen[said] > logged[said]:
            lacking.append((seen[said], message))
    return lacking


def _turn(occurrence: int, message: Message, now: datetime) -> NewEvent:
    """Its id comes from what it says, so that two ends at once add it once."""
    known = message.role in ROLE_EVENTS
    digest = hashlib.sha256(f"{message.role}\x00{message.content}".encode()).hexdigest()[:32]
    return NewEvent(
        event_type=ROLE_EVENTS.get(message.role, "message"),
        content=message.content,
        created_at=now,
        external_id=f"transcript-{digest}-{occurrence}",
        role=message.role if known else "",
        metadata={} if known else {"role": message.role},
    )
