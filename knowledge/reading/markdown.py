"""Markdown: the blocks at its outermost level, each in its own words. Pure."""

from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt

from knowledge.reading.blocks import Block, Kind

KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
FENCE = "---"  # before and after what some files say of themselves above their text
LONGEST_PREFACE = 200  # lines


def read_markdown(text: str) -> Iterator[Block]:
    """The blocks of clean text: what they say in Markdown, since that is what a model reads well."""
    lines = text.split("\n")
    at = _preface_end(lines)
    if at:
        yield Block("code", "\n".join(lines[:at]))
    tokens = _parser().parse("\n".join(lines[at:]))
    begun = at
    for place, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        first, last = token.map[0] + begun, token.map[1] + begun
        yield from _block("paragraph", lines[at:first])  # what the parser passed over
        kind = KINDS.get(token.type, "paragraph")
        title = tokens[place + 1].content if kind == "heading" else ""
        yield from _block(kind, lines[max(at, first) : last], title, int(token.tag[1]) if title else 0)
        at = max(at, last)
    yield from _block("paragraph", lines[at:])


def _block(kind: Kind, lines: list[str], title: str = "", level: int = 0) -> Iterator[Block]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        # A heading that says nothing heads nothing.
        yield Block(kind if kind != "heading" or title else "paragraph", text, " ".join(title.split()), level)


def _preface_end(lines: list[str]) -> int:
    """The number of lines that a preface takes with its fences; 0 without one."""
    if lines[0].rstrip() != FENCE:
        return 0
    ends = (number for number, line in enumerate(lines[1:LONGEST_PREFACE], 2) if line.rstrip() == FENCE)
    return next(ends, 0)


@cache
def _parser() -> MarkdownIt:
    """Only finds the blocks: what stands inside of them stays as it is written. Definitions of links, which
    the standard takes out, are text."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.disable(["inline"])
    return parser
