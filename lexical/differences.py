"""What changed between two texts, word by word. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
MOST_WORDS = 2_000  # of both texts together that are compared one by one: the time grows with their product
MOST_LINES = 6_000  # likewise
Kind = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Part:
    """A run of text that stands in both, in the former alone, or in the latter alone."""

    kind: Kind
    text: str


def compare(before: str, after: str) -> list[Part]:
    """The parts in the order of reading. Those that are `same` or `gone` make up `before`, those that are
    `same` or `new` make up `after`. Lines first, then the words of those that differ: of long ones only the
    lines, and of very long texts nothing but that they differ."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) + len(new) > MOST_LINES:
        return _joined([Part("same", before)] if before == after else _replaced(before, after))
    parts: list[Part] = []
    for old_lines, new_lines, is_same in _runs(old, new):
        if is_same:
            parts.append(Part("same", "".join(old_lines)))
        else:
            parts.extend(_by_words("".join(old_lines), "".join(new_lines)))
    return _joined(parts)


def _by_words(before: str, after: str) -> list[Part]:
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return _replaced(before, after)
    parts: list[Part] = []
    for old_words, new_words, is_same in _runs(old, new):
        if is_same:
            parts.append(Part("same", "".join(old_words)))
        else:
            parts.extend(_replaced("".join(old_words), "".join(new_words)))
    return parts


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > MOST_WORDS)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        yield old[old_from:old_to], new[new_from:new_to], tag == "equal"


def _replaced(before: str, after: str) -> list[Part]:
    return [Part("gone", before), Part("new", after)]


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Without empty ones; neighbours of one kind are one."""
    found: list[Part] = []
    for part in parts:
        if part.text and found and found[-1].kind == part.kind:
            found[-1] = Part(part.kind, found[-1].text + part.text)
        elif part.text:
            found.append(part)
    return found
