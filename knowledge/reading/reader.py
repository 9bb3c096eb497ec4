"""The one way to read a document, whatever its format. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath

from knowledge.reading.blocks import Block, Limits, Unreadable
from knowledge.reading.chunking import Piece, chunk
from knowledge.reading.plain import decode, read_plain
from providers.local.tokens import TextEncoder
from providers.local.weights import TOKENIZER, find_model_folder

TEXT, MARKDOWN, HTML, PDF = "text/plain", "text/markdown", "text/html", "application/pdf"
SUFFIXES = {
    ".txt": TEXT, ".text": TEXT, ".md": MARKDOWN, ".markdown": MARKDOWN, ".htm": HTML, ".html": HTML,
    ".xhtml": HTML, ".pdf": PDF,
}  # fmt: skip
OTHER_NAMES = {"text/x-markdown": MARKDOWN, "application/xhtml+xml": HTML, "application/x-pdf": PDF}
MEDIA_TYPES = (TEXT, MARKDOWN, HTML, PDF)
LONGEST_TITLE = 500  # characters: of the column


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a document says: its own title, empty if it has none, and its pieces."""

    title: str
    pieces: tuple[Piece, ...]


def media_type_of(named: str, filename: str, data: bytes) -> str:
    """One of `MEDIA_TYPES`: the one named (its parameters do not matter), else by the file's name or its
    first bytes. Raises Unreadable for a type that cannot be read."""
    meant = named.partition(";")[0].strip().lower()
    if meant and meant != "application/octet-stream":
        meant = OTHER_NAMES.get(meant, meant)
        if meant not in MEDIA_TYPES:
            raise Unreadable(f"Documents are {', '.join(MEDIA_TYPES)}.")
        return meant
    if suffix := SUFFIXES.get(PurePath(filename).suffix.lower()):
        return suffix
    begin = data[:1_024].lstrip().lower()
    if begin.startswith(b"%pdf-"):
        return PDF
    return HTML if begin.startswith((b"<!doctype html", b"<html")) else TEXT


def read_document(data: bytes, media_type: str, limits: Limits, *, encoding: str = "") -> ReadDocument:
    """Reads and cuts it. `encoding` is a page's, which otherwise tells it itself. Raises Unreadable with the
    reason; what else it raises, and how long it takes, is up to whoever made the file, unless it is plain
    text or Markdown."""
    title, blocks = _blocks(data, media_type, limits, encoding)
    first = _Titled(blocks, limits.characters)
    pieces = tuple(chunk(first, count_tokens))
    if not pieces:
        raise Unreadable("The document holds no text.")
    return ReadDocument((title or first.heading)[:LONGEST_TITLE], pieces)


def _blocks(data: bytes, media_type: str, limits: Limits, encoding: str) -> tuple[str, Iterator[Block]]:
    # Each parser is loaded by whoever needs it.
    if media_type == PDF:
        from knowledge.reading.pdf import read_pdf

        return read_pdf(data, limits)
    if media_type == HTML:
        from knowledge.reading.html import read_html

        return read_html(data.decode(encoding) if encoding else data)
    text = decode(data)
    if len(text) > limits.characters:
        raise _too_long(limits.characters)
    if media_type == MARKDOWN:
        from knowledge.reading.markdown import read_markdown

        return "", read_markdown(text)
    return "", read_plain(text)


class _Titled:
    """The blocks, counted, with the first heading that they hold."""

    def __init__(self, blocks: Iterable[Block], most: int) -> None:
        self._blocks, self._most = blocks, most
        self.heading = ""

    def __iter__(self) -> Iterator[Block]:
        characters = 0
        for block in self._blocks:
            characters += len(block.text)
            if characters > self._most:
                raise _too_long(self._most)
            self.heading = self.heading or block.title
            yield block


def _too_long(most: int) -> Unreadable:
    return Unreadable(f"The document's text is longer than {most} characters.")


def count_tokens(text: str) -> int:
    """Tokens that the local model makes of a text, up to the 254 that it reads."""
    return len(_encoder().encode(text)) - 2  # its own two marks


@cache
def _encoder() -> TextEncoder:
    return TextEncoder(find_model_folder() / TOKENIZER)
