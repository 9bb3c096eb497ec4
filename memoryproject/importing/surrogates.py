"""Halves of surrogate pairs in JSON on its way to a parser that would put question marks in their place."""

import re
from typing import Protocol

ESCAPE = re.compile(
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
HALF = re.compile(rb"\\u[dD][89a-fA-F]")
NUL = rb"\u0000"  # as long as what it stands for, and as little to be stored
LONGEST, SHORT = 12, 6  # bytes of an escaped pair, and of a half


class Readable(Protocol):
    """Bytes that come one after another."""

    def read(self, size: int = -1, /) -> bytes:
        """At most so many of the next bytes; none at the end."""
        ...


class Unhalved:
    """The same bytes with an escaped NUL in the place of each escaped half of a surrogate pair: whoever
    refuses texts that cannot be stored then meets one."""

    def __init__(self, file: Readable) -> None:
        self._file, self._held = file, b""

    def read(self, size: int = -1, /) -> bytes:
        """About so many of the next bytes; none at the end."""
        if not size:
            return b""
        while piece := self._file.read(size):
            told = self._held + piece
            end = _end_of(told)
            self._held = told[end:]
            if end:
                return _mended(told[:end])
        told, self._held = self._held, b""
        return _mended(told)


def _end_of(told: bytes) -> int:
    """Up to where no escape reaches that may go on behind."""
    end = told.find(b"\\", max(0, len(told) - LONGEST))
    if end < 0:
        return len(told)
    end = _run(told, end)
    if HIGH.fullmatch(told, max(0, end - SHORT), end):
        end = _run(told, end - SHORT)
    return end


def _run(told: bytes, place: int) -> int:
    """Where the backslashes begin that end at the place: of several, two are one that is escaped."""
    while place and told[place - 1 : place] == b"\\":
        place -= 1
    return place


def _mended(told: bytes) -> bytes:
    return ESCAPE.sub(_whole, told) if HALF.search(told) else told


def _whole(found: re.Match[bytes]) -> bytes:
    return NUL if found[1] is None and HALF.match(found[0]) else found[0]
