"""Kinds of values: what has one of a kind has no other of it. Pure; English."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from episodic.vocabulary import DURATION, KINDS, MEASURES, MONEY, PREPOSITIONS, STATES

NUMBER = re.compile(r"\d+(?:\.\d+)*")
TIME = re.compile(r"\d{1,2}:\d{2}(?:am|pm)?|\d{1,2}(?:am|pm)|noon|midnight")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?=$)|\d{1,2}(?:st|nd|rd|th)")
CODE = re.compile(r"[@/]|\w\d|\d\w")  # an address, a path, a version, an id
_KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}
_STATES_OF: dict[str, set[int]] = {}
for _number, _words in enumerate(STATES):
    for _word in _words.split():
        _STATES_OF.setdefault(_word, set()).add(_number)


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case; whether it was written as a name is, and whether `the` stood before it."""

    text: str
    is_name: bool = False
    is_definite: bool = False


def exclude(one: str, other: str) -> bool:
    """Whether the words are different states of a thing."""
    return bool(_STATES_OF.get(one, set()) & _STATES_OF.get(other, set()))


def is_number(word: str) -> bool:
    """Whether the word is a number, written in digits."""
    return bool(NUMBER.fullmatch(word))


def kind_of(value: Sequence[Word]) -> str | None:
    """The kind of a value, without the prepositions before it; None when it is of no known kind."""
    words = [word for number, word in enumerate(value) if number or word.text not in PREPOSITIONS]
    texts = [word.text for word in words]
    if 1 < len(texts) <= 3 and any(_kind_of_word(text) in {"number", "date"} for text in texts):
        return _kind_of_numbers(texts)
    if len(kinds := {_kind_of_word(text) for text in texts}) == 1 and None not in kinds:
        return kinds.pop()
    if words and all(word.is_name for word in words):
        return "name"
    return None


def _kind_of_word(text: str) -> str | None:
    if TIME.fullmatch(text):
        return "time"
    if DATE.fullmatch(text) and not NUMBER.fullmatch(text):
        return "date"
    if is_number(text):
        return "number"
    return "code" if CODE.search(text) else _KIND_OF.get(text)


def _kind_of_numbers(texts: Sequence[str]) -> str | None:
    """Of a number with its unit, or a date with its month; None with anything else beside."""
    units = [text for text in texts if _kind_of_word(text) not in {"number", "date"}]
    if not units:
        return None
    if all(_KIND_OF.get(unit) == "month" for unit in units):
        return "date"
    if units in (["am"], ["pm"]):
        return "time"
    for kind, known in (("money", MONEY), ("duration", DURATION)):
        if all(unit in known for unit in units):
            return kind
    return f"number of {units[0]}" if len(units) == 1 and units[0] in MEASURES else None
