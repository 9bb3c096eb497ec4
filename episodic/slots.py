"""What a slot may be called and hold, and the values that pass between slots and their callers."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from episodic.models import Entity
from tenants.errors import DomainError, Invalid

LONGEST_KEY = 255
RESERVED = ("confirm", "history", "pin", "unpin")  # routes below a slot
CONFIRMED = "confirmed"  # the source of a value that waited until a person said it holds
UNPRINTABLE = ("Cc", "Cs")  # controls and halves of surrogate pairs
WORD = re.compile(r"[^\W_]+")
MAIL = "email"
MAIL_SHAPE = re.compile(r"(?:[^@<>]*<)?\W*(?:mailto:)?[^\s@<>]+@[\w-]+(?:\.[\w-]+)+\W*")
SHORTEST_PART = 5  # letters of a key that is recognised as the beginning or end of a longer word
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

Action = Literal["created", "updated", "confirmed_again", "pending", "skipped"]


@dataclass(frozen=True, slots=True)
class NewEntity:
    """What somebody says of a user. `extracted`: a model or a rule says so, not a person or a program that
    knows; `turn` is its number in `session_id`; `valid_from` says since when, if not since now. Of what was
    extracted it is when it was said."""

    user_id: str | None
    key: str
    value: Any
    confidence: float = 1.0
    source: str = "api"
    session_id: str = ""
    turn: int | None = None
    agent_id: str | None = None
    extracted: bool = False
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class SlotWrite:
    """What became of it, and the row that says so now, if any does. `reason` says why it was skipped
    (`low_confidence`, `allowlist`, `limit`, `pinned`, `policy`, `duplicate`, `outdated`), or `unconfirmed`
    while it is pending."""

    entity: Entity | None
    action: Action
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """Which slots are meant. Without a status and a moment: what holds now."""

    user_id: str | None = None
    key: str | None = None
    status: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeletedSlot:
    """How many of its rows were taken back or removed."""

    rows: int


class SlotRefused(Exception):
    """A write that the policy or what is stored forbids: by `reason`, or by `error` for who asked for it."""

    def __init__(self, reason: str, error: DomainError) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


def slot_key(key: str) -> str:
    """The key as it is stored: trimmed, casefolded, with `_` for white space. Raises Invalid."""
    name = "_".join(key.split()).casefold()
    if not name:
        raise Invalid("May not be empty.", "key")
    if len(name) > LONGEST_KEY:
        raise Invalid(f"May not be longer than {LONGEST_KEY} characters.", "key")
    if any(unicodedata.category(one) in UNPRINTABLE for one in name):
        raise Invalid("May not hold control characters.", "key")
    if "/" in name:
        raise Invalid("May not hold a slash.", "key")
    if name in RESERVED:
        raise Invalid(f"May not be {', '.join(RESERVED)}.", "key")
    return name


@lru_cache(maxsize=1_000)
def slot_keys(names: Sequence[str]) -> frozenset[str]:
    """A policy's names as keys; what can be no key names none."""
    keys = set()
    for name in names:
        try:
            keys.add(slot_key(name))
        except Invalid:
            continue
    return frozenset(keys)


def is_high_impact(key: str, value: Any, names: Sequence[str]) -> bool:
    """Whether `names`, a policy's high-impact keys, mean this key, however it is spelled, or an email address
    as its value. `home_address` is an `address`, `e-mail` and `mail` are `email`."""
    meant = _meanings(tuple(names))
    words = _words(key)
    if any(name <= words or _is_part(name, words) for name in meant):
        return True
    return frozenset({MAIL}) in meant and isinstance(value, str) and bool(MAIL_SHAPE.fullmatch(value.strip()))


@lru_cache(maxsize=1_000)
def _meanings(names: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(words for words in map(_words, names) if words)


def _is_part(name: frozenset[str], words: frozenset[str]) -> bool:
    """Whether a key of one word begins or ends a longer one, as in `homeaddress`."""
    (first, *more) = name
    if more or len(first) < SHORTEST_PART:
        return False
    return any(word.startswith(first) or word.endswith(first) for word in words)


def _words(key: str) -> frozenset[str]:
    """The key's words in one spelling: without case and plural; mail is email."""
    found = WORD.findall(unicodedata.normalize("NFKC", key).casefold())
    return frozenset(MAIL if word == "mail" else word for word in map(_singular, found))


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def json_text(value: Any) -> str:
    """The value as JSON without blanks. Raises Invalid for what is no JSON, or none that can be stored."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("Must be a JSON value.", "value") from error
    if NUL.search(text):
        raise Invalid("Text may not contain NUL characters.", "value")
    return text


def text_of(entity: Entity) -> str:
    """What is embedded and shown of a slot: `key: value`."""
    return slot_text(entity.key, entity.value)


def slot_text(key: str, value: Any) -> str:
    """Likewise, of what is not stored yet. Text stands without quotes."""
    return f"{key}: {value if isinstance(value, str) else json_text(value)}"
