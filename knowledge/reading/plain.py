"""Plain text: paragraphs between blank lines. Pure."""

import re
from collections.abc import Iterator

from knowledge.reading.blocks import Block, Unreadable

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def decode(data: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark. Raises Unreadable."""
    try:
        return clean(data.decode(MARKS.get(data[:2], "utf-8-sig")))
    except UnicodeDecodeError as error:
        raise Unreadable("The text is not UTF-8.") from error


def clean(text: str) -> str:
    """The text with `\\n` for every kind of line end, and without what cannot be stored."""
    return UNSTORABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def read_plain(text: str, *, page: int | None = None) -> Iterator[Block]:
    """The paragraphs of clean text."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield Block("paragraph", "\n".join(lines), page=page)
            lines = []
    if lines:
        yield Block("paragraph", "\n".join(lines), page=page)
