"""Whether a text says an expected fact, by its words. Pure; likeness in meaning is asked of the server.

Words alone do not tell what a sentence means. So a text says the fact only where it has the fact's own words
as they stand; what is merely like it is shown to whoever asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

HALF = 0.5  # of the words: a text that has more of them is like the fact
# A comparison, or a word with the signs that belong to it: -5, $5, .5, 3.5, 10:30, C++, C#, 5%.
WORD = re.compile(
    r"[<>≤≥≠¬]"
    r"|(?:(?<!\w)[-+](?=[$€£¥₹.\d]))?[$€£¥₹]?(?:(?<!\w)\.(?=\d))?"
    r"[^\W_]+(?:(?<=\d)[.,:/-](?=\d)[^\W_]+)*(?:[-+#%°$€£¥₹]+(?!\w))?"
)
UNIT = re.compile(r"(?<=\d)\s+(?=[%°$€£¥₹])")
DASHES = str.maketrans("\u2212\u2013", "--")
MASK = re.compile(r"(\[(?:secret|card|health)\])")  # what the server puts in place of what it does not show
CARD, CARD_DIGITS = "[card]", range(3, 20)  # a check code has three, a whole number up to 19
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
SHORT_FORMS = (
    ("\u2019", "'"), (r"\bwon't\b", "will not"), (r"\bcan't\b", "can not"), (r"n't\b", " not"),
    (r"'ll\b", " will"), (r"'d\b", " would"), (r"'(?:s|m|re|ve)\b", ""),
)  # fmt: skip
# What a sentence needs and a fact does without. Words of time, direction and denial are not among them.
_SMALL = "a am an and are as at be do does in is it its of on so that the these this those"
# What stands for the person.
_PERSON = "he her hers him his i me mine my our ours she their theirs them they us user we you your yours"
# What denies, doubts or limits the sentence it stands in.
_TURNING = """
allegedly anymore barely cannot cease ceased claim claimed denied deny doubt doubted dream else except fake
false falsely former formerly hardly hoax if imagine imagined incorrect joke joking kidding lie lied longer
lying maybe might mistaken neither never no nobody none nor not nothing perhaps possibly pretend pretended
pretending quit rarely rumor rumour seldom stop stopped stopping supposedly unless unlikely untrue whether
without wrong wrongly
"""
SMALL, PERSON, TURNING = (frozenset(one.split()) for one in (_SMALL, _PERSON, _TURNING))
THEY = "they"  # whichever word it is that stands for the person
LINKS = frozenset(("for", "with", THEY))  # between a slot's key and its value
# The words by which people say a key without its name; those of a group such as `preference:` say the group.
SAYINGS: Mapping[str, Sequence[str]] = {
    "employer": ("work",),
    "home_city": ("live",),
    "home_country": ("live",),
    "language": ("speak",),
    "name": ("called",),
    "origin": ("come", "from"),
    "preference": ("prefer", "preferred"),
    "preferred_name": ("called",),
    "role": ("work",),
}


@dataclass(frozen=True, slots=True)
class Likeness:
    """`says` the fact, or `is_near` it, so that somebody should look; `share` of the fact's words, 0 to 1."""

    says: bool
    is_near: bool
    share: float


def of_text(fact: str, text: str, *, person: str | None = None) -> Likeness:
    """How a text stands to the fact: it says it where each sentence of the fact is part of one of its own."""
    ours = list(_sentences(text))
    wanted = [one for one in _sentences(fact) if words(one, person=person)]
    says = bool(wanted) and all(any(_has(one, other, person) for other in ours) for one in wanted)
    told = share(fact, text, person=person)
    return Likeness(says, says or told > HALF, told)


def of_masked(fact: str, text: str, *, person: str | None = None) -> Likeness:
    """The same of a text with masks in it. A mask is any words of the fact that stand in its place, so one
    word at least has to stand beside it; of a card, digits."""
    shown = MASK.sub(" ", text)
    ours = list(_sentences(text))
    wanted = [one for one in _sentences(fact) if words(one, person=person)]
    says = bool(wanted) and all(any(_fills(one, other, person) for other in ours) for one in wanted)
    told = share(fact, shown, person=person)
    return Likeness(says, says or told > HALF, told)


def of_slot(fact: str, *, key: str, value: str, person: str | None = None) -> Likeness:
    """The same for a slot: it says the fact where the fact says key and value, and nothing beside."""
    said = words(fact, person=person)
    held = [words(one, person=person) for one in _members(value)]
    has_value = any(_places(said, one) for one in held)
    told = share(fact, f"{key} {value}", person=person)
    says = not _asks(fact) and any(_says_slot(said, key, one) for one in held)
    return Likeness(says, says or has_value or told > HALF, told)


def share(fact: str, text: str, *, person: str | None = None) -> float:
    """The share of the fact's words that the text has, in any order, 0 to 1."""
    wanted = frozenset(words(fact, person=person))
    telling = wanted - {THEY} or wanted
    return len(telling & frozenset(words(text, person=person))) / len(telling) if telling else 0.0


def words(text: str, *, person: str | None = None) -> tuple[str, ...]:
    """The words that tell texts apart, in their order, with their signs and without an `s` at their ends;
    whatever stands for the person, a pronoun or their id, is the same word."""
    opened = text.casefold()
    for short, long in SHORT_FORMS:
        opened = re.sub(short, long, opened)
    own = PERSON | {(person or "").casefold()}
    signed = UNIT.sub("", opened.translate(DASHES))
    found = (THEY if word in own else _plain(word) for word in WORD.findall(signed))
    return tuple(word for word in found if word not in SMALL)


def _plain(word: str) -> str:
    if word == "has":
        return "have"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _sentences(text: str) -> Iterator[str]:
    return (one for one in SENTENCE.split(text.strip()) if one)


def _asks(text: str) -> bool:
    return text.rstrip().endswith("?")


def _has(wanted: str, sentence: str, person: str | None) -> bool:
    """Whether the words of one sentence stand in another without a gap, and neither turns what it says."""
    ours, theirs = words(wanted, person=person), words(sentence, person=person)
    return (
        _asks(wanted) == _asks(sentence)
        and _turning(ours) == _turning(theirs)
        and bool(_places(theirs, ours))
    )


def _fills(wanted: str, sentence: str, person: str | None) -> bool:
    """As `_has`, for a sentence with masks."""
    ours = words(wanted, person=person)
    theirs = [
        word
        for part in MASK.split(sentence)
        for word in ((part,) if MASK.fullmatch(part) else words(part, person=person))
    ]
    return (
        _asks(wanted) == _asks(sentence)
        and _turning(ours) == _turning(theirs)
        and _stands_masked(ours, theirs)
    )


def _stands_masked(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether our words stand in theirs without a gap, one of them at least as itself and not for the
    person."""
    end, begun = len(ours), (0, False)
    reached: set[tuple[int, bool]] = set()  # how many of ours stand there, and whether one does as itself
    for word in theirs:
        before = {*reached, begun}
        if MASK.fullmatch(word):
            reached = {
                (to, told)
                for at, told in before
                for to in range(at + 1, end + 1)
                if word != CARD or _is_card(ours[at:to])
            }
        else:
            reached = {(at + 1, told or word != THEY) for at, told in before if at < end and ours[at] == word}
        if (end, True) in reached:
            return True
    return False


def _is_card(said: Sequence[str]) -> bool:
    digits = sum(one.isdigit() for word in said for one in word)
    return digits in CARD_DIGITS and all(any(map(str.isdigit, word)) for word in said)


def _turning(said: Sequence[str]) -> list[str]:
    turning = {_plain(one) for one in TURNING}
    return [one for one in said if one in turning]


def _places(said: Sequence[str], part: Sequence[str]) -> list[int]:
    """Where the part begins; nowhere for an empty one."""
    size = len(part)
    return [at for at in range(len(said) - size + 1) if said[at : at + size] == part] if part else []


def _members(value: str) -> list[str]:
    """A list that a slot holds says each of its members, unless it says of one that it is none."""
    parts = value.split(",")
    return [value] if len(parts) == 1 or _turning(words(value)) else [value, *parts]


def _says_slot(said: Sequence[str], key: str, held: Sequence[str]) -> bool:
    for at in _places(said, held):
        left = {*said[:at], *said[at + len(held) :]} - LINKS
        group, _, about = key.rpartition(":")
        named = frozenset(words(group or key)) - LINKS
        sayings = frozenset(SAYINGS.get(group or key, ()))
        beside = frozenset(words(about)) if group else frozenset()  # people leave it out
        is_named = bool(sayings & left) or (bool(named) and named <= left)
        if is_named and left <= named | sayings | beside:
            return True
    return False
