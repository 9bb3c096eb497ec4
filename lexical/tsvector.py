"""Texts as PostgreSQL's full-text types hold them. Pure.

In index and queries each lexeme begins with a mark of its corpus, four characters of a hash. So the index
keeps the postings of each corpus apart: a search reads its own corpus's alone, however much others hold, and
nobody's searches take longer by what is in another's memory. Where two corpora share a mark, the rows found
are told apart by their columns.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from lexical.analysis import analyse

LAST_POSITION = 16_383  # the highest that a tsvector knows
GAP = 8  # positions between two fields, so that no phrase spans them


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The `tsvector` literal of a text and its number of lexemes."""

    vector: str
    length: int


def mark_of(tenant_id: UUID, corpus: str) -> str:
    """The four characters that stand before each lexeme of a corpus."""
    digest = hashlib.sha256(f"{tenant_id.hex}/{corpus}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:3]).decode()


def index_text(fields: Sequence[str], mark: str) -> IndexedText:
    """The lexemes of all fields with their positions."""
    positions: dict[str, list[str]] = {}
    position = length = 0
    for text in fields:
        for lexeme in analyse(text):
            position, length = position + 1, length + 1
            positions.setdefault(lexeme, []).append(str(min(position, LAST_POSITION)))
        position += GAP
    entries = (f"{_quoted(mark + lexeme)}:{','.join(places)}" for lexeme, places in positions.items())
    return IndexedText(" ".join(entries), length)


def term(lexeme: str, mark: str) -> str:
    """One lexeme of one corpus as a `tsquery`."""
    return _quoted(mark + lexeme)


def in_any(queries: Iterable[str]) -> str:
    """The `tsquery` of texts that any of the queries finds."""
    return " | ".join(f"({query})" for query in queries)


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
