"""The account of an assembly: every item, whether it is in the messages, and why. Pure."""

from collections.abc import Container, Mapping, Sequence

from recall.assembly.budget import Offer, Selection
from recall.assembly.marks import told_before
from recall.assembly.render import tokens_of
from recall.assembly.types import KINDS, Item, Kind, LedgerState, Piece, Why, message_tokens
from working.types import Turn
from working.window import estimate_tokens


def account(
    offer: Offer,
    chosen: Selection,
    left_out: Sequence[tuple[Piece, Why]],
    told: Mapping[str, str],
    *,
    unpaired: Sequence[Turn] = (),
    further_slots: int = 0,
) -> tuple[Item, ...]:
    """Every item in the order of the messages; within a kind, what is in them first. One tells of how many
    `further_slots` there are, which were not looked at."""
    again = told_before(chosen.pieces, told)
    items = [_message("system", offer.system)] if offer.system else []
    items += [_included(piece, again) for piece in chosen.pieces]
    items += [_left_out(piece, why) for piece, why in left_out]
    items += [_left_out(piece, "budget") for piece in chosen.too_much]
    kept = {turn.seq for turn in chosen.turns}
    if further_slots:
        items.append(Item("entity", None, None, 0, "size", "none", included=False, count=further_slots))
    turns = [(turn.seq, _turn(turn, "window" if turn.seq in kept else "budget")) for turn in offer.turns]
    turns += [(turn.seq, _turn(turn, "unpaired")) for turn in unpaired]
    items += [item for _seq, item in sorted(turns, key=lambda turn: turn[0])]
    items.append(_message("query", offer.query))
    return tuple(sorted(items, key=lambda item: KINDS.index(item.kind)))


def _message(kind: Kind, text: str) -> Item:
    role = "system" if kind == "system" else "user"
    return Item(kind, None, None, message_tokens(role, text), "given", "none", included=True)


def _included(piece: Piece, again: Container[str]) -> Item:
    ledger: LedgerState = "none"
    if piece.key:
        ledger = "told_again" if piece.key in again else "new"
    return Item(piece.kind, piece.id, piece.score, tokens_of(piece), piece.why, ledger, included=True)


def _left_out(piece: Piece, why: Why) -> Item:
    ledger: LedgerState = "told" if why == "told" else "none"
    return Item(piece.kind, piece.id, piece.score, tokens_of(piece), why, ledger, included=False)


def _turn(turn: Turn, why: Why) -> Item:
    tokens = estimate_tokens(turn)
    return Item("turn", str(turn.seq), None, tokens, why, "none", included=why == "window")
