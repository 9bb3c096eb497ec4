"""A summary in place of all but the newest exchanges, in the commit of the turns that make it due.

The session goes on, and its log stays whole; only its windows begin later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings

from working import querysets
from working.entries import turn_of
from working.events import Written
from working.models import Session
from working.spans import Span, open_span
from working.types import Compacted, Turn
from working.unlogged import without_logged
from working.window import TurnSize, estimate_tokens, first_kept, tokens_of

LONGEST_LOOK = 4096  # turns; more of them without a summary are too many whatever they hold


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a summary is due: after so many new turns, or when they hold more tokens; 0: not for that.
    `exchanges` at most stay as they were said."""

    turns: int
    tokens: int
    exchanges: int


def compact(
    *,
    written: Written,
    trigger: Trigger,
    summarise: Callable[[Session, Span], str],
    keep: Callable[[Session, Span, str], str],
) -> Compacted | None:
    """Summarises the turns before the newest exchanges if that is due; None if it is not.

    Runs in the scope of the append, which holds the lock of the session's row: of any number of writers one
    summarises a turn. `summarise` makes the summary of the span, `keep` stores it and answers the running
    summary of the session. Without a trigger it costs nothing, and no query while there are too few turns.
    """
    session = written.session
    new = session.last_seq + len(written.stored) - session.summarised_seq
    most = LONGEST_LOOK if written.held is None else settings.WORKING_LIST_LENGTH  # then the list forgets
    if not written.stored or not (trigger.tokens or 0 < min(trigger.turns, most) <= new):
        return None
    unlogged = _unlogged(written)
    turns = _new_turns(session, unlogged)
    if not _due(turns, trigger, most):
        return None
    upto = turns[_first_kept(turns, trigger)].seq - 1
    span = open_span(session=session, upto=upto, unlogged=unlogged)
    if not span.messages:
        return None
    session.summarised_seq = session.compacted_seq = upto
    session.summary = keep(session, span, summarise(session, span))
    session.save(update_fields=["summary", "summarised_seq", "compacted_seq"])
    return Compacted(session.summary, upto)


def _due(turns: list[TurnSize], trigger: Trigger, most: int) -> bool:
    by_number = bool(trigger.turns) and len(turns) >= trigger.turns
    by_size = bool(trigger.tokens) and sum(turn.tokens for turn in turns) > trigger.tokens
    return by_number or by_size or len(turns) >= most


def _first_kept(turns: list[TurnSize], trigger: Trigger) -> int:
    return first_kept(
        turns,
        exchanges=trigger.exchanges,
        most_turns=trigger.turns // 2 if trigger.turns else None,
        most_tokens=trigger.tokens // 2 if trigger.tokens else None,
    )


def _unlogged(written: Written) -> list[Turn]:
    if written.held is None:
        return []
    new = [turn_of(one.event, one.seq) for one in written.stored if one.event.role]
    return [*without_logged(session=written.session, turns=written.held), *new]


def _new_turns(session: Session, unlogged: Sequence[Turn]) -> list[TurnSize]:
    """The turns that no summary covers, oldest first; of very many the newest."""
    found = [
        TurnSize(seq, role, tokens_of(characters))
        for seq, role, characters in querysets.new_turns(session=session, limit=LONGEST_LOOK)
    ]
    found += [
        TurnSize(turn.seq, turn.role, estimate_tokens(turn))
        for turn in unlogged
        if turn.seq > session.summarised_seq
    ]
    return sorted(found, key=lambda turn: turn.seq)[-LONGEST_LOOK:]
