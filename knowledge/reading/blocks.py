"""What every format is read into. Pure."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "list", "table", "code"]


class Unreadable(ValueError):
    """The document is refused; the message says why, for who sent it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that belongs together. `text` is as it is to be shown; `title` is what a heading
    says without its marks, `level` 1 to 6; `page` is where a block of a PDF begins."""

    kind: Kind
    text: str
    title: str = ""
    level: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read."""

    characters: int
    pages: int
