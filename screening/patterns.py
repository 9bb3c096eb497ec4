"""Patterns that are searched in time proportional to the text, whatever it holds: by RE2. Pure."""

from collections.abc import Iterator
from typing import Any

import re2

MOST_MEMORY = 32 << 20  # of a compiled pattern: RE2 keeps in it what it learns of the texts


class Hit:
    """Where a pattern was found; positions count the text's characters."""

    __slots__ = ("_at", "_data", "_match")

    def __init__(self, match: Any, data: bytes, at: int) -> None:
        self._match, self._data, self._at = match, data, at

    def group(self, number: int = 0) -> str:
        """What the group holds; empty if it took no part."""
        start, end = self._match.span(number)
        return self._data[start:end].decode(errors="replace") if start >= 0 else ""

    def span(self, number: int = 0) -> tuple[int, int]:
        """Where it begins and ends; (0, 0) for a group that took no part."""
        start, end = self._match.span(number)
        if start < 0:
            return 0, 0
        begin = self._at + _characters(self._data[self._match.start() : start])
        return begin, begin + _characters(self._data[start:end])


class Haystack:
    """A text in which patterns are looked for."""

    __slots__ = ("_data", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._data = text.encode(errors="replace")  # a lone surrogate becomes `?`: one character for one

    def find(self, pattern: Any) -> Iterator[Hit]:
        """Every place, one after the other."""
        seen, at = 0, 0
        for match in pattern.finditer(self._data):
            at += _characters(self._data[seen : match.start()])
            seen = match.start()
            yield Hit(match, self._data, at)

    def has(self, pattern: Any) -> bool:
        """Whether it is there at all."""
        return pattern.search(self._data) is not None


def compile_pattern(pattern: str) -> Any:
    """A pattern in RE2's syntax: no look-around, no back references. It ignores case unless it says so."""
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MOST_MEMORY
    options.log_errors = False
    return re2.compile(pattern, options=options)


def words_of(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def any_of(words: str) -> str:
    """An alternative of the words, which commas part; a space in one stands for some white space, and with a
    question mark for some or none."""
    named = (" ".join(word.split()) for word in words.split(","))
    return (
        "(?:"
        + "|".join(word.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}") for word in named if word)
        + ")"
    )


def _characters(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.decode(errors="replace"))
