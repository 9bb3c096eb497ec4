"""Closing a session's log: what is not summarised yet becomes the running summary."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope, undecided
from tenants.tombstones import Erased, last_erasures
from working import store
from working.events import adopt_marked
from working.models import Event, Session


@dataclass(frozen=True, slots=True)
class Span:
    """The turns since the last summary: user and assistant messages, the user's first and last words."""

    messages: int
    first: str | None
    last: str | None
    covers: tuple[int, int]


def close_session(
    *,
    caller: Caller,
    session: Session,
    now: datetime,
    summarise: Callable[[Session, Span], str | None],
    keep: Callable[[Session, Span, str], None],
    always: Callable[[Session], None],
    only_if: Callable[[Session], bool] = lambda _locked: True,
    message_count: int | None = None,
) -> bool:
    """Ends the session, in one transaction with the callbacks; whether it did.

    It does not when the locked session fails `only_if`. With new turns, `summarise` makes the summary, or
    None if none is wanted, and `keep` stores what becomes of it; `always` runs either way.
    `message_count` is that of the transcript it ends with, and goes with the summary.
    """
    token = secrets.token_hex(8)
    ref = adopt_marked(caller=caller, session=session, now=now, token=token)
    try:
        with scope(caller.tenant_id):
            locked = _lock(session)
            if ended := only_if(locked):
                summarised = _summarise(locked, summarise, keep)
                if summarised or not (locked.summary or locked.ended_at):
                    locked.message_count = message_count
                locked.ended_at = locked.ended_at or now
                always(locked)
                locked.save(update_fields=["summary", "summarised_seq", "ended_at", "message_count"])
    except BaseException as error:
        if not undecided(error):  # as in `append_events`
            store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=None)
        raise
    committed = store.Committed(
        seq=(locked.last_seq, locked.last_seq),
        agent_id=locked.agent_id,
        project=locked.project,
        summary=locked.summary,
    )
    settled = committed if ended else None
    store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=settled)
    return ended


def _summarise(
    session: Session,
    summarise: Callable[[Session, Span], str | None],
    keep: Callable[[Session, Span, str], None],
) -> bool:
    """Whether there is a new summary."""
    span = _unsummarised(session)
    summary = summarise(session, span) if span.messages else None
    if summary is not None:
        session.summary, session.summarised_seq = summary, session.last_seq
        keep(session, span, summary)
    return summary is not None


def _lock(session: Session) -> Session:
    """The session locked: the person before the row, as every writer locks them."""
    people = {session.user_id} - {""}
    erased_at = last_erasures(tenant_id=session.tenant_id, user_ids=people).get(session.user_id)
    found = Session.objects.select_for_update().filter(tenant_id=session.tenant_id, id=session.id).first()
    if found is None:
        raise NotFound("There is no such session.")
    # A summary is made of turns that may be about to be erased, as long as the session has them.
    if erased_at is not None and erased_at >= found.started_at:
        raise Erased("This person's memory was erased meanwhile.")
    return found


def _unsummarised(session: Session) -> Span:
    turns = Event.objects.filter(
        tenant_id=session.tenant_id, session_id=session.id, seq__gt=session.summarised_seq
    ).exclude(role="")
    spoken = turns.filter(role="user").order_by("seq")
    first, last = spoken.first(), spoken.last()
    return Span(
        messages=turns.filter(role__in=("user", "assistant")).count(),
        first=_words(first),
        last=_words(last),
        covers=(session.summarised_seq + 1, session.last_seq),
    )


def _words(event: Event | None) -> str | None:
    if event is None:
        return None
    return event.content if isinstance(event.content, str) else str(event.content)
