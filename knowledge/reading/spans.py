"""Where a text that is too long can be cut. Pure.

Spans are (start, end) in the text, one behind the other, and leave nothing out.
"""

import re
from collections.abc import Callable, Iterable, Iterator

Span = tuple[int, int]
Measure = Callable[[str], int]  # the number of tokens of a text

RUN = 100  # characters: smaller spans are taken together, since measuring each would take longer
LONGEST_UNIT = 200  # characters of what can only be cut anywhere
MOST_CHARACTERS = 2_000  # of a piece: the model takes a word of any length for one token
# Looking back, so that a text of nothing but dots takes no longer than another.
SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026])\s+|(?<=[.!?\u2026][\"'\u201d\u2019)\]])\s+"
    r"|(?<=[\u3002\uff01\uff1f])(?![\u3002\uff01\uff1f])"
)
LINE_END = re.compile(r"\n")
WORD_END = re.compile(r"(?<=\S)\s+")
IN_PROSE = (SENTENCE_END, LINE_END, WORD_END)
IN_LINES = (LINE_END, SENTENCE_END, WORD_END)


def units(text: str, ends: tuple[re.Pattern[str], ...], most: int, measure: Measure) -> Iterator[
    tuple[int, int, int]
]:  # fmt: skip
    """(start, end, tokens) of units with at most `most` tokens each, cut at the first of `ends` that leaves
    them small enough, or anywhere."""
    stack: list[tuple[Span, int]] = [((0, len(text)), 0)]
    while stack:
        (start, end), depth = stack.pop()
        if end - start <= MOST_CHARACTERS and (tokens := measure(text[start:end])) <= most:
            yield start, end, tokens
        elif end - start > 1:
            parts = list(_parts(text, start, end, ends, depth))
            stack += [(part, depth + 1) for part in reversed(parts)]
        else:
            yield start, end, most


def _parts(text: str, start: int, end: int, ends: tuple[re.Pattern[str], ...], depth: int) -> Iterator[Span]:
    if depth < len(ends):
        return _runs(_split(ends[depth], text, start, end))
    step = min(LONGEST_UNIT, (end - start + 1) // 2)
    return ((at, min(at + step, end)) for at in range(start, end, step))


def _split(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for match in pattern.finditer(text, start, end):
        if match.end() > at:
            yield at, match.end()
            at = match.end()
    if at < end:
        yield at, end


def _runs(spans: Iterable[Span]) -> Iterator[Span]:
    """The same, those that are short taken together."""
    begun: Span | None = None
    for start, end in spans:
        if begun is not None and end - begun[0] <= RUN:
            begun = begun[0], end
            continue
        if begun is not None:
            yield begun
        begun = start, end
    if begun is not None:
        yield begun
