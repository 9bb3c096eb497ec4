"""Closing a session's log: what is not summarised yet becomes the running summary."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope, undecided
from tenants.tombstones import Erased, last_erasures
from working import store, workspace_queries
from working.events import adopt_marked
from working.models import Session
from working.sessions import ref_of
from working.spans import Span, open_span
from working.types import SessionRef, Turn
from working.unlogged import held_turns, keeps_log, without_logged

SUMMARISED = ("summary", "summary_at", "summarised_seq", "changed_at")


def close_session(
    *,
    caller: Caller,
    session: Session,
    now: datetime,
    summarise: Callable[[Session, Span], str | None],
    keep: Callable[[Session, Span, str], str],
    always: Callable[[Session], None],
    only_if: Callable[[Session], bool] = lambda _locked: True,
    message_count: int | None = None,
) -> bool:
    """Ends the session, in one transaction with the callbacks; whether it did.

    It does not when the locked session fails `only_if`. With new turns, `summarise` makes the summary, or
    None if none is wanted, and `keep` stores what becomes of it and answers the session's running summary;
    `always` runs either way. `message_count` is that of the transcript it ends with, and goes with the
    summary.
    """

    def close(locked: Session, unlogged: Sequence[Turn]) -> bool:
        if not only_if(locked):
            return False
        locked.changed_at = locked.moment_of_change(now)
        summarised = _summarise(locked, unlogged, summarise, keep, at=locked.changed_at)
        if summarised or not (locked.summary or locked.ended_at):
            locked.message_count = message_count
        locked.ended_at = locked.ended_at or now
        workspace_queries.stamp(session=locked, now=locked.changed_at)
        always(locked)
        locked.save(update_fields=[*SUMMARISED, "ended_at", "message_count"])
        return True

    token = secrets.token_hex(8)
    ref = adopt_marked(caller=caller, session=session, now=now, token=token)
    return _change(_Marked(caller, ref, token, now), session, close)


def summarise_session(
    *,
    caller: Caller,
    session: Session,
    now: datetime,
    summarise: Callable[[Session, Span], str | None],
    keep: Callable[[Session, Span, str], str],
    only_if: Callable[[Session], bool],
) -> bool:
    """Summarises the new turns of a session as its end does, without ending it; whether it did. One that
    Redis does not know is not made known to it: there is nothing to distrust."""
    done = False

    def tell(locked: Session, unlogged: Sequence[Turn]) -> bool:
        nonlocal done
        at = locked.moment_of_change(now)
        done = only_if(locked) and _summarise(locked, unlogged, summarise, keep, at=at)
        if done:
            locked.changed_at = at
            workspace_queries.stamp(session=locked, now=at)
            locked.save(update_fields=SUMMARISED)
        return done

    ref, token = ref_of(session), secrets.token_hex(8)
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token)
    return _change(_Marked(caller, ref, token, now), session, tell)


@dataclass(frozen=True, slots=True)
class _Marked:
    """The mark in Redis that a commit is to follow."""

    caller: Caller
    ref: SessionRef
    token: str
    now: datetime

    def settle(self, committed: store.Committed | None) -> None:
        store.settle(
            caller=self.caller,
            ref=self.ref,
            now=self.now.timestamp(),
            token=self.token,
            committed=committed,
        )


def _change(marked: _Marked, session: Session, change: Callable[[Session, Sequence[Turn]], bool]) -> bool:
    """Locks the session and changes it; whether `change` did. It is handed the turns that are in no log."""
    is_logged = keeps_log(tenant_id=session.tenant_id, agent_id=session.agent_id)
    try:
        held = [] if is_logged else held_turns(caller=marked.caller, ref=marked.ref, now=marked.now)
        with scope(session.tenant_id):
            locked = _lock(session)
            changed = change(locked, without_logged(session=locked, turns=held) if held else [])
    except BaseException as error:
        if not undecided(error):  # as in `append_events`
            marked.settle(None)
        raise
    committed = store.Committed(
        seq=(locked.last_seq, locked.last_seq),
        agent_id=locked.agent_id,
        project=locked.project,
        summary=locked.summary,
        turn_count=locked.turn_count,
        compacted=locked.compacted_seq,
        reload=True,
        unlogged=not is_logged,
    )
    marked.settle(committed if changed else None)
    return changed


def _summarise(
    session: Session,
    unlogged: Sequence[Turn],
    summarise: Callable[[Session, Span], str | None],
    keep: Callable[[Session, Span, str], str],
    *,
    at: datetime,
) -> bool:
    """Whether there is a new summary."""
    span = open_span(session=session, upto=session.last_seq, unlogged=unlogged)
    summary = summarise(session, span) if span.messages else None
    if summary is not None:
        session.summarised_seq = span.covers[1]
        session.set_summary(keep(session, span, summary), at=at)
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
