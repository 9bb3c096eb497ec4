"""HTML: what a reader of the page sees, without scripts, styles, templates, comments and hidden elements.
Pure; reading a page can be made to take hours, so it is read in a process of its own."""

import re
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import CData, NavigableString, Tag

from knowledge.reading.blocks import Block, Kind
from knowledge.reading.plain import clean

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
UNSEEN = {
    "audio", "canvas", "datalist", "embed", "head", "iframe", "noscript", "object", "script", "style", "svg",
    "template", "title", "video",
}  # fmt: skip
BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html",
    "legend", "main", "menu", "nav", "p", "section", "summary",
}  # fmt: skip
HIDING = re.compile(
    r"display:none|visibility:(hidden|collapse)|opacity:0(\.0*)?(?![.\d])|font-size:0(\.0*)?(?![.\d])"
)
LISTS = ("ul", "ol")
CELL = " | "  # between the cells of a row
OF_TABLES = ("table", "tr", "td", "th")
LAID_OUT = [*HEADINGS, "table", "pre"]  # in a table or list: it only serves the layout of the page


def read_html(source: str | bytes) -> tuple[str, Iterator[Block]]:
    """The page's title, empty if it has none, and its blocks. Of bytes, the page tells the encoding."""
    soup = BeautifulSoup(source, "html.parser")
    title = " ".join(clean(soup.title.get_text()).split()) if soup.title else ""
    return title, _Reader().read(soup)


class _Reader:
    """Collects running text, and makes a block of it where an element of the page's structure ends."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._kept = 0  # open elements whose line breaks count
        self._table = 0  # open tables
        self._lists: list[Tag] = []  # open lists
        self._heading = 0  # the level of the open heading

    def read(self, soup: BeautifulSoup) -> Iterator[Block]:
        # Not by recursion: a page may be nested deeper than that goes.
        open_elements: list[tuple[Tag, Iterator[Any]]] = [(soup, iter(soup.contents))]
        while open_elements:
            element, children = open_elements[-1]
            child = next(children, None)
            if child is None:
                open_elements.pop()
                yield from self._leave(element)
            elif isinstance(child, Tag):
                if not _is_hidden(child):
                    yield from self._enter(child)
                    open_elements.append((child, iter(child.contents)))
            elif type(child) in (NavigableString, CData):  # the other kinds are comments and the like
                self._text.append(str(child) if self._kept else " ".join(_padded(child)))
        yield from self._end("paragraph")

    def _enter(self, tag: Tag) -> Iterator[Block]:
        name = tag.name
        if name == "br":
            self._text.append("\n")
        elif name == "li" and self._lists:
            self._text.append(f"\n{'  ' * (len(self._lists) - 1)}- ")
        elif name in LISTS and (self._lists or not tag.find(LAID_OUT)):
            yield from self._begin() if not self._lists else ()
            self._lists.append(tag)
        elif name == "table" and (self._table or not tag.find(LAID_OUT)):
            yield from self._begin()
            self._table += 1
        elif name in ("tr", "td", "th") and self._table:  # not where they end: many pages leave that out
            self._text.append("\n" if name == "tr" else CELL)
        elif name == "pre":
            yield from self._begin()
            self._kept += 1
        elif name in HEADINGS or name in BLOCKS or name in (*LISTS, *OF_TABLES, "li"):
            yield from self._begin()
            self._heading = HEADINGS.get(name, self._heading)

    def _leave(self, tag: Tag) -> Iterator[Block]:
        name = tag.name
        if self._lists and tag is self._lists[-1]:
            self._lists.pop()
            if not self._lists:
                yield from self._end("list")
        elif name == "table" and self._table:
            self._table -= 1
            yield from self._end("table")
        elif name == "pre":
            self._kept -= 1
            yield from self._end("code")
        elif name in HEADINGS:
            yield from self._end("heading")
            self._heading = 0
        elif name in BLOCKS or name in (*LISTS, *OF_TABLES, "li"):
            yield from self._begin()

    def _begin(self) -> Iterator[Block]:
        """Something else begins: what was collected is a paragraph, or goes on inside a list or table."""
        if self._lists or self._table or self._kept or self._heading:
            self._text.append(" ")
        else:
            yield from self._end("paragraph")

    def _end(self, kind: Kind) -> Iterator[Block]:
        if self._lists or self._table or self._kept:
            self._text.append("\n")
            return  # it is part of what is still open
        text, self._text = clean("".join(self._text)), []
        if kind == "code":
            text = text.strip("\n")
        else:
            lines = (_tidy(line) for line in text.split("\n"))
            text = "\n".join(line for line in lines if line.strip(" |-"))
        if not text.strip():
            return
        if kind == "heading":
            title, level = " ".join(text.split()), max(self._heading, 1)
            yield Block(kind, f"{'#' * level} {title}", title, level)
        else:
            yield Block(kind, text)


def _padded(text: str) -> Iterator[str]:
    """The words, with a blank before and after them where there is one: it may part two elements."""
    if text[:1].isspace():
        yield ""
    yield from text.split()
    if text[-1:].isspace():
        yield ""


def _tidy(line: str) -> str:
    """Without double blanks, but for those that indent an item of a list, and what begins a row."""
    indent = len(line) - len(line.lstrip(" ")) if line.lstrip(" ").startswith("- ") else 0
    return " " * indent + " ".join(line.split()).removeprefix("| ")


def _is_hidden(tag: Tag) -> bool:
    if tag.name in UNSEEN or tag.has_attr("hidden") or str(tag.get("aria-hidden", "")).lower() == "true":
        return True
    style = tag.get("style")
    return bool(style) and HIDING.search("".join(str(style).lower().split())) is not None
