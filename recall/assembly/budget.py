"""What goes in when not everything fits. Pure.

The caller's system message, the query and the newest exchange always stay. Of the rest, pieces go in by
their order as far as they fit: procedures, the session's data, slots, episodes by score, the summary.
Then come older turns, the newest of them first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recall.assembly.render import frame_tokens, tokens_of
from recall.assembly.types import Piece, message_tokens, window_tokens
from working.types import Turn
from working.window import select_window


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is, pieces by their worth. `summary`, its parts the newest first, stands for turns that the
    window lacks: it is offered only if `summary_due`, or when turns do not fit."""

    query: str
    system: str | None = None
    pieces: Sequence[Piece] = ()
    turns: Sequence[Turn] = ()
    summary: Sequence[Piece] = ()
    summary_due: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """What goes in, in the order of the offer; and the pieces that do not fit."""

    pieces: tuple[Piece, ...]
    turns: tuple[Turn, ...]
    too_much: tuple[Piece, ...]


def select(offer: Offer, token_budget: int | None) -> Selection:
    """What fits the budget, or everything without one."""
    due = offer.summary if offer.summary_due else ()
    if token_budget is None:
        return Selection((*offer.pieces, *due), tuple(offer.turns), ())
    chosen = _select(offer, [*offer.pieces, *due], token_budget)
    if offer.summary and not due and len(chosen.turns) < len(offer.turns):
        return _select(offer, [*offer.pieces, *offer.summary], token_budget)
    return chosen


def _select(offer: Offer, pieces: Sequence[Piece], token_budget: int) -> Selection:
    newest = newest_exchange(offer.turns)
    fixed = message_tokens("user", offer.query) + window_tokens(newest)
    fixed += message_tokens("system", offer.system) if offer.system else 0
    left = token_budget - fixed
    taken: list[Piece] = []
    too_much: list[Piece] = []
    for piece in pieces:
        cost = tokens_of(piece) + _frame(piece, taken)
        if cost > left:
            too_much.append(piece)
        else:
            taken.append(piece)
            left -= cost
    turns = select_window(
        offer.turns, pairs=max(len(offer.turns), 1), token_budget=window_tokens(newest) + max(left, 0)
    ).turns
    return Selection(tuple(taken), turns, tuple(too_much))


def newest_exchange(turns: Sequence[Turn]) -> Sequence[Turn]:
    """From the user's last turn on; all turns when the user says nothing."""
    starts = [position for position, turn in enumerate(turns) if turn.role == "user"]
    return turns[starts[-1] :] if starts else turns


def _frame(piece: Piece, taken: Sequence[Piece]) -> int:
    return frame_tokens(
        piece,
        first=not taken,
        first_fenced=all(one.kind == "procedure" for one in taken),
        first_of_kind=all(one.kind != piece.kind for one in taken),
    )
