"""How a session's ledger marks what it was told: by what it said, so that it is told again once it says
something else. Pure."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from recall.assembly.types import Piece

LENGTH = 16  # hexadecimal digits of a mark
HALF = LENGTH // 2
SLOT = "entity:"  # before a slot's id: its key in the ledger


def mark_of(text: str) -> str:
    """The mark of what was said."""
    return _digest(text)[:LENGTH]


def slot_mark(key: str, value: Any) -> str:
    """Likewise of a slot. A value that comes in the place of another has an id of its own: the first half of
    the mark is the slot's, so that the new value is known to be told in the place of the old one."""
    return _digest(key)[:HALF] + _digest(json.dumps(value, sort_keys=True))[:HALF]


def told_before(pieces: Iterable[Piece], told: Mapping[str, str]) -> set[str]:
    """The keys of those that the session was told in whatever words; of slots, with whatever value."""
    slots = {mark[:HALF] for key, mark in told.items() if key.startswith(SLOT)}
    return {
        piece.key
        for piece in pieces
        if piece.key in told or (piece.kind == "entity" and piece.state[:HALF] in slots)
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
