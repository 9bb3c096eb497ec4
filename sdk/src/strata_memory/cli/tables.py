"""Rows in columns that fit a terminal. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .texts import clean, columns, cut, filled

Cells: TypeAlias = Sequence[Sequence[str]]
GAP = "  "
NARROWEST = 8  # columns to which one that may shrink does
READABLE = 16  # columns below which what is cut says too little beside the others


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `shrinks` where there is not room for all, the widest first."""

    heading: str
    right: bool = False
    shrinks: bool = False


def table(heads: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """The lines, heading first, each within `width` columns; None: as wide as it takes. Cells become one line
    each; an empty one is shown as `-`. Where it is too narrow, columns that say nothing are left out; where
    the last column that may shrink would still not be readable, its cells stand below their rows."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    return [line for lines in _blocks(heads, cells, width) for line in lines]


def _blocks(heads: Sequence[Column], cells: Cells, width: int | None) -> list[list[str]]:
    """The lines of the heading and of each row."""
    widths = _widths(heads, cells)
    if width is None or _total(widths) <= width:
        return [[line] for line in _lines(heads, cells, widths)]
    telling = [at for at in range(len(heads)) if any(row[at] != "-" for row in cells)]
    if telling and len(telling) < len(heads):
        return _blocks([heads[at] for at in telling], [[row[at] for at in telling] for row in cells], width)
    natural = list(widths)
    _shrink(heads, widths, width)
    last = max((at for at, head in enumerate(heads) if head.shrinks), default=0)
    if last and widths[last] < min(natural[last], READABLE):
        return _folded(heads, cells, last, width)
    return [[cut(line, width)] for line in _lines(heads, cells, widths)]


def _widths(heads: Sequence[Column], cells: Cells) -> list[int]:
    return [
        max(columns(head.heading), *(columns(row[at]) for row in cells), 0) for at, head in enumerate(heads)
    ]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _lines(heads: Sequence[Column], cells: Cells, widths: Sequence[int]) -> list[str]:
    return [_line(heads, row, widths) for row in ([head.heading for head in heads], *cells)]


def _cell(text: str) -> str:
    return clean(text) or "-"


def _folded(heads: Sequence[Column], cells: Cells, below: int, width: int) -> list[list[str]]:
    """One column below the others, of which another may stand below the rest in turn."""
    rest = [head for at, head in enumerate(heads) if at != below]
    head, *rows = _blocks(rest, [[*row[:below], *row[below + 1 :]] for row in cells], width)
    under = [cut(GAP + row[below], width) for row in cells]
    return [head, *([*lines, line] for lines, line in zip(rows, under, strict=True))]


def _shrink(heads: Sequence[Column], widths: list[int], width: int) -> None:
    while _total(widths) > width:
        wide = [at for at, head in enumerate(heads) if head.shrinks and widths[at] > NARROWEST]
        if not wide:
            return  # the line is cut
        widest = max(wide, key=lambda at: widths[at])
        widths[widest] -= 1


def _line(heads: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> str:
    shown = [
        filled(cut(cell, width), width, right=head.right)
        for head, cell, width in zip(heads, row, widths, strict=True)
    ]
    return GAP.join(shown).rstrip()
