"""Closing a session's log: what is not summarised yet becomes the running summary."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope, undecided
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
    summarise: Callable[[Span], str],
    keep: Callable[[Session, Span, str], None],
    always: Callable[[Session], None],
) -> None:
    """Ends the session, in one transaction with the callbacks.

    With new turns, `summarise` makes the summary and `keep` stores what becomes of it; `always` runs either
    way.
    """
    token = secrets.token_hex(8)
    ref = adopt_marked(caller=caller, session=session, now=now, token=token)
    try:
        with scope(caller.tenant_id):
            locked = _lock(session)
            span = _unsummarised(locked)
            if span.messages:
                locked.summary = summarise(span)
                locked.summarised_seq = locked.last_seq
                keep(locked, span, locked.summary)
            always(locked)
            locked.ended_at = locked.ended_at or now
            locked.save(update_fields=["summary", "summarised_seq", "ended_at"])
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
    store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=committed)


def _lock(session: Session) -> Session:
    found = Session.objects.select_for_update().filter(tenant_id=session.tenant_id, id=session.id).first()
    if found is None:
        raise NotFound("There is no such session.")
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
