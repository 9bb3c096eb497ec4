"""Blocks of a document as pieces to be found one by one: by headings, then by what belongs together. Pure.

A piece holds at most what the embedding model reads, together with the headings that it stands under, and
nothing of a second page, so that it can be cited with its page. Lists, tables, code and paragraphs stay whole
where they fit. Nothing is left out; only where a paragraph has to be cut do two pieces share its words at the
cut. Takes time in proportion to the text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from knowledge.reading.blocks import Block
from knowledge.reading.spans import IN_LINES, IN_PROSE, MOST_CHARACTERS, Measure, units

MOST_TOKENS = 250  # about 190 English words; the local model reads 254
HEADING_TOKENS = 50  # of them for the headings above
LONGEST_HEADING = 500  # characters: of the column
SMALL = 60  # tokens below which a section goes on into the next one
OVERLAP = 30  # tokens that two pieces of a cut paragraph share at most
LONGEST_OVERLAP = 200  # characters
BETWEEN = " > "

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document. `heading`: the headings that its whole body stands under, the outermost first.
    `page`: the one that all of it stands on, where there are pages."""

    text: str
    heading: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """Of a piece: a block, or what a longer one was cut into."""

    text: str
    tokens: int
    path: Path
    page: int | None
    is_heading: bool = False


def chunk(blocks: Iterable[Block], measure: Measure) -> Iterator[Piece]:
    """The pieces of a document, in its order. `measure` tells the tokens of a text; two texts with white
    space between them have as many as both together."""
    return _Chunker(measure).run(blocks)


@dataclass(slots=True)
class _Chunker:
    measure: Measure
    parts: list[_Part] = field(default_factory=list)
    path: Path = ()
    levels: tuple[int, ...] = ()  # of the headings in the path
    room: int = MOST_TOKENS  # for the text of a piece under this path
    tokens: int = 0  # of the parts
    body_tokens: int = 0  # of those that are no headings
    characters: int = 0

    def run(self, blocks: Iterable[Block]) -> Iterator[Piece]:
        for block in blocks:
            if self.parts and self.parts[-1].page != block.page:
                yield from self._flush(0)
            if block.kind == "heading":
                if self.body_tokens >= SMALL:
                    yield from self._flush(self._headings_at_end())
                self._enter(block)
            for part in self._cut(block):
                yield from self._add(part)
        yield from self._flush(0)

    def _enter(self, heading: Block) -> None:
        outer = sum(1 for level in self.levels if level < heading.level)
        # Levels may be skipped, but never fall along the path.
        self.path = (*self.path[:outer], heading.title)
        self.levels = (*self.levels[:outer], heading.level)
        self.room = MOST_TOKENS - self.measure(_heading(self.path, self.measure))

    def _add(self, part: _Part) -> Iterator[Piece]:
        if not self._fits(part):
            yield from self._flush(self._headings_at_end())
            if not self._fits(part):
                yield from self._flush(0)
        self._take(part)

    def _take(self, *parts: _Part) -> None:
        for part in parts:
            self.parts.append(part)
            self.tokens += part.tokens
            self.body_tokens += 0 if part.is_heading else part.tokens
            self.characters += len(part.text) + 2

    def _fits(self, part: _Part) -> bool:
        return self.tokens + part.tokens <= self.room and self.characters + len(part.text) <= MOST_CHARACTERS

    def _headings_at_end(self) -> int:
        """How many headings wait for what stands under them."""
        body = next((n for n, part in enumerate(reversed(self.parts)) if not part.is_heading), None)
        return len(self.parts) if body is None else body

    def _flush(self, keep: int) -> Iterator[Piece]:
        """What was collected as a piece, but for the last `keep` parts."""
        done, kept = self.parts[: len(self.parts) - keep], self.parts[len(self.parts) - keep :]
        self.parts, self.tokens, self.body_tokens, self.characters = [], 0, 0, 0
        self._take(*kept)
        if done:
            body = [part.path for part in done if not part.is_heading] or [done[0].path]
            heading = _heading(_shared(body), self.measure)
            yield Piece("\n\n".join(part.text for part in done), heading, done[0].page)

    def _cut(self, block: Block) -> Iterator[_Part]:
        """The block itself, if a piece can hold it."""
        if len(block.text) <= MOST_CHARACTERS and (tokens := self.measure(block.text)) <= self.room:
            yield _Part(block.text, tokens, self.path, block.page, block.kind == "heading")
            return
        # The first part stands behind the headings that wait for it.
        waiting = self.parts[len(self.parts) - self._headings_at_end() :]
        first = self.room - sum(part.tokens for part in waiting)
        found = list(
            units(block.text, IN_PROSE if _is_prose(block) else IN_LINES, self.room // 2, self.measure)
        )
        for begin, end in self._groups(found, first, overlapping=_is_prose(block)):
            text = block.text[found[begin][0] : found[end - 1][1]].strip("\n")
            if text.strip():
                yield _Part(text.rstrip(), sum(one[2] for one in found[begin:end]), self.path, block.page)

    def _groups(
        self, found: list[tuple[int, int, int]], first: int, *, overlapping: bool
    ) -> Iterator[tuple[int, int]]:
        """Which units make a part together, as (begin, end)."""
        most, begin = max(first, self.room // 2), 0
        characters = MOST_CHARACTERS - LONGEST_HEADING
        while begin < len(found):
            end, tokens = begin, 0
            while end < len(found) and (
                end == begin
                or (tokens + found[end][2] <= most and found[end][1] - found[begin][0] <= characters)
            ):
                tokens += found[end][2]
                end += 1
            yield begin, end
            most = self.room
            begin = self._back(found, begin, end) if overlapping and end < len(found) else end

    def _back(self, found: list[tuple[int, int, int]], begin: int, end: int) -> int:
        """Where the next part begins: some words before the cut, if the first words behind it fit as well."""
        start, tokens = end, 0
        while (
            start > begin + 1
            and tokens + found[start - 1][2] <= OVERLAP
            and found[end][0] - found[start - 1][0] <= LONGEST_OVERLAP
        ):
            start -= 1
            tokens += found[start][2]
        return start if tokens + found[end][2] <= self.room else end


def _is_prose(block: Block) -> bool:
    return block.kind in ("paragraph", "heading")


def _shared(paths: list[Path]) -> Path:
    """The headings that all of them stand under."""
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _heading(path: Path, measure: Measure) -> str:
    """The headings in one line: those that fit, the innermost first to stay."""
    told = ""
    for title in reversed(path):
        longer = title + BETWEEN + told if told else title
        if len(longer) > LONGEST_HEADING or measure(longer) > HEADING_TOKENS:
            break
        told = longer
    return told
