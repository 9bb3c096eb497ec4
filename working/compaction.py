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
from working.window import TurnSize, estimate_tokens, first_fitting, first_kept, tokens_of

LONGEST_LOOK = 4096  # turns; more of them without a summary are too many whatever they hold


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a summary is due: after so many turns, or when they hold more tokens; 0: not for that. What stays
    as it was said: at most so many exchanges, with half of the turns and tokens that make one due."""

    turns: int
    tokens: int
    exchanges: int
    looks_again = False

    def counts(self, session: Session) -> int:
        """The number of the newest event that does not count: those count that no summary covers."""
        return session.summarised_seq

    def first_kept(self, turns: Sequence[TurnSize]) -> int:
        """Position of the first turn that stays."""
        return first_kept(
            turns,
            exchanges=self.exchanges,
            most_turns=self.turns // 2 if self.turns else None,
            most_tokens=self.tokens // 2 if self.tokens else None,
        )


@dataclass(frozen=True, slots=True)
class WindowTrigger:
    """When what windows show is to be less: from so many turns on, or above so many tokens. As many of the
    newest stay as keep the other two limits."""

    turns: int
    tokens: int
    most_turns: int
    most_tokens: int
    looks_again = True  # the window may be a smaller one than that of the write before

    def counts(self, session: Session) -> int:
        """Everything counts that windows show, also what a summary covers."""
        return session.compacted_seq

    def first_kept(self, turns: Sequence[TurnSize]) -> int:
        """Position of the first turn that stays."""
        return first_fitting(turns, most_turns=self.most_turns, most_tokens=self.most_tokens)


def compact(
    *,
    written: Written,
    trigger: Trigger | WindowTrigger,
    summarise: Callable[[Session, Span], str],
    keep: Callable[[Session, Span, str], object],
    retell: Callable[[Session], str],
) -> Compacted | None:
    """Summarises the turns before the newest that stay if that is due; None if it is not.

    Runs in the scope of the append, which holds the lock of the session's row: of any number of writers one
    summarises a turn. `summarise` makes the summary of the span and `keep` stores it, unless one covers it
    already; `retell` answers the running summary of the session. Without a trigger it costs nothing, and no
    query while there are too few turns.
    """
    session = written.session
    after = trigger.counts(session)
    new = session.last_seq + len(written.stored) - after
    most = LONGEST_LOOK if written.held is None else settings.WORKING_LIST_LENGTH  # then the list forgets
    if not (written.stored or trigger.looks_again):  # a duplicate makes nothing due
        return None
    if not (trigger.tokens or 0 < min(trigger.turns, most) <= new):
        return None
    unlogged = _unlogged(written)
    turns = _turns(session, unlogged, after=after)
    if not _due(turns, trigger, most):
        return None
    upto = turns[trigger.first_kept(turns)].seq - 1
    if upto <= session.compacted_seq:
        return None
    if upto > session.summarised_seq:
        span = open_span(session=session, upto=upto, unlogged=unlogged)
        if not span.messages:
            return None
        text, session.summarised_seq = summarise(session, span), upto
        keep(session, span, text)
    session.compacted_seq = upto
    session.set_summary(retell(session), at=written.at)
    session.changed_at = written.at  # also when no turn came
    session.save(update_fields=["summary", "summary_at", "summarised_seq", "compacted_seq", "changed_at"])
    return Compacted(session.summary, upto)


def _due(turns: list[TurnSize], trigger: Trigger | WindowTrigger, most: int) -> bool:
    by_number = bool(trigger.turns) and len(turns) >= trigger.turns
    by_size = bool(trigger.tokens) and sum(turn.tokens for turn in turns) > trigger.tokens
    return by_number or by_size or len(turns) >= most


def _unlogged(written: Written) -> list[Turn]:
    if written.held is None:
        return []
    new = [turn_of(one.event, one.seq) for one in written.stored if one.event.role]
    held = [turn for turn in written.held if turn.seq not in written.withdrawn]
    return [*without_logged(session=written.session, turns=held), *new]


def _turns(session: Session, unlogged: Sequence[Turn], *, after: int) -> list[TurnSize]:
    """The turns behind that number, oldest first; of very many the newest."""
    found = [
        TurnSize(seq, role, tokens_of(characters))
        for seq, role, characters in querysets.turn_sizes(session=session, after=after, limit=LONGEST_LOOK)
    ]
    found += [TurnSize(turn.seq, turn.role, estimate_tokens(turn)) for turn in unlogged if turn.seq > after]
    return sorted(found, key=lambda turn: turn.seq)[-LONGEST_LOOK:]
