"""Secrets, payment cards and words about somebody's health in a text. Pure; linear in the text's length."""

from collections.abc import Iterable, Iterator

from screening.cards import find_cards
from screening.findings import Finding
from screening.folding import fold
from screening.health import find_health
from screening.passwords import find_passwords
from screening.patterns import Haystack
from screening.secrets import find_keys

FINDERS = (find_keys, find_passwords, find_cards, find_health)
ROUNDS = 3  # what is masked may leave words together that say something new
MOST = 1_000  # findings of one kind: from the last of them on, the whole text is one


def find_sensitive(text: str) -> tuple[Finding, ...]:
    """What the text holds, in its order and without overlaps."""
    hay = Haystack(fold(text))
    return _apart([one for find in FINDERS for one in _bounded(find(hay), len(text))])


def mask(text: str, findings: Iterable[Finding]) -> str:
    """The text with `[secret]`, `[card]` or `[health]` in place of each finding, and of any that comes to
    light by that: in the answer nothing is found."""
    masked = _masked(text, findings)
    for _ in range(ROUNDS):
        left = find_sensitive(masked)
        if not left:
            return masked
        masked = _masked(masked, left)
    left = find_sensitive(masked)
    return f"[{left[0].category}]" if left else masked


def _bounded(found: Iterator[Finding], end: int) -> Iterator[Finding]:
    for number, one in enumerate(found, 1):
        if number == MOST:
            yield Finding(one.category, one.kind, one.start, end)
            return
        yield one


def _masked(text: str, findings: Iterable[Finding]) -> str:
    parts, end = [], 0
    for one in findings:
        parts += [text[end : one.start], f"[{one.category}]"]
        end = one.end
    return "".join([*parts, text[end:]])


def _apart(found: list[Finding]) -> tuple[Finding, ...]:
    """Sorted; of findings that overlap, the first stays, and of those that begin together the longest. It
    grows over the others."""
    apart: list[Finding] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Finding(last.category, last.kind, last.start, max(last.end, one.end))
        else:
            apart.append(one)
    return tuple(apart)
