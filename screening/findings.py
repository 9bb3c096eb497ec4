"""What was found in a text, and where. Pure."""

from dataclasses import dataclass
from typing import Literal

Category = Literal["secret", "card", "health"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind` says which sort of secret, card or health it is; the text's characters `start` to `end` are
    it."""

    category: Category
    kind: str
    start: int
    end: int
