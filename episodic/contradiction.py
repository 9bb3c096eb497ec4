"""Whether a statement says what cannot hold beside another. Pure; English; no model is asked.

Two statements contradict each other when they are the same sentence but for one value after the verb, and the
verb and the kind of the value allow only one (`is Tuesday`, `lives in Paris`; not `likes tea`), or but for a
negation. In doubt they do not: what is closed wrongly is missed, what stays is only said twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from episodic.values import Word, exclude, is_number, kind_of
from episodic.vocabulary import (
    ADDITIONS,
    ATTRIBUTES,
    CHOSEN,
    COPULAS,
    FILLERS,
    HEDGES,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITE_VERBS,
    PAST,
    PREPOSITIONS,
    REASONS,
    ROLES,
    SEVERAL,
    SINGLE,
    STATE_VERBS,
)  # fmt: skip

MOST_CHARACTERS, LONGEST = 1_000, 40  # of both texts, words of a statement; what is longer tells a story
LONGEST_VALUE = 4
PREFERRING = frozenset({"prefers", "prefer"})
CHOOSING = PREFERRING | {"uses", "use"}
AMOUNTS = frozenset({"number", "money", "duration", "frequency"})  # that change with any verb

Words = tuple[Word, ...]

TOKEN = re.compile(
    r"(?P<money>[€$£])?(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:[.:/-]\d+)*)(?P<unit>k\b|%|[a-z]{1,2}\b)?"
    r"|[^\W\d_][\w@./+#'-]*|%",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!])\s+(?=[^\W\d_a-z])")
CONTRACTIONS = (
    (r"\bcan(?:no|')t\b", "can not"), (r"\bwon't\b", "will not"), (r"n't\b", " not"),
    (r"\b(i)'m\b", r"\1 am"),
    (r"\b(it|he|she|that|there|who)'s\b", r"\1 is"), (r"'re\b", " are"), (r"\bno longer\b", "not"),
    (r"\b(?:used to|stopped|quit|gave up)\b", "not"), (r"\b(has|have) no\b", r"not \1"),
    (r"\b(?:from now on|as of (?:now|today)|at (?:the moment|present)|these days|going forward)\b", ""),
    (r"\b(?:right|for) now\b", ""),
)  # fmt: skip
CHANGE = re.compile(
    r"\b(?:has |have |is |was |were )?(?:been |now )?"
    r"(?:moved|changed|switched|shifted|rescheduled|postponed|renamed|raised|lowered|increased|reduced|set)"
    r"(?: from [^,]+?)? to ",
    re.IGNORECASE,
)
AFTER_CHANGE = ("is ", "is on ", "is at ", "lives in ", "uses ", "costs ", "is called ")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence without what does not change its sense."""

    words: Words
    is_negated: bool
    is_lower: bool  # written without capitals, as in a chat: then names do not show


def contradicts(old: str, new: str) -> bool:
    """Whether `old` holds no more if `new` does."""
    if max(len(old), len(new)) > MOST_CHARACTERS:
        return False
    pair = _differing_sentences(old, new)
    if pair is None or any("?" in text for text in pair):
        return False
    return any(_clash(before, after) for before in _readings(pair[0]) for after in _readings(pair[1]))


def _differing_sentences(old: str, new: str) -> tuple[str, str] | None:
    """The only sentences that differ; None when more do."""
    before, after = (SENTENCE_END.split(text.strip().replace("\u2019", "'")) for text in (old, new))
    if len(before) != len(after):
        return None
    different = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    return different[0] if len(different) == 1 else None


def _readings(sentence: str) -> Iterator[Statement]:
    """What the sentence states; of one that tells of a change, what holds after it."""
    change = CHANGE.search(sentence)
    texts = [sentence]
    if change and change.start():
        subject, value = sentence[: change.start()], sentence[change.end() :]
        texts = [f"{subject}{verb}{value}" for verb in AFTER_CHANGE]
    for text in texts:
        statement = _statement(text)
        if statement is not None:
            yield statement


def _statement(text: str) -> Statement | None:
    """None for what is no plain statement of what holds."""
    for pattern, plain in CONTRACTIONS:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    words = list(_words(text))
    if len(words) > LONGEST or any(map(_leaves_open, words, [Word(""), *words])):
        return None
    kept = tuple(word for word in words if word.text not in NEGATIONS)
    return Statement(kept, len(kept) < len(words), text.islower())


def _leaves_open(word: Word, before: Word) -> bool:
    """Whether the word makes a plan, a guess or a story of the sentence."""
    if word.text in HEDGES:
        return not (word.text == "may" and word.is_name)
    is_participle = before.text in COPULAS
    return word.text in PAST and not is_participle


def _words(text: str) -> Iterator[Word]:
    is_definite, is_first = False, True
    for match in TOKEN.finditer(text):
        token = match.group().rstrip(".'/-")
        low = token.lower()
        if low in {"the", "a", "an"}:
            is_definite, is_first = low == "the", False
            continue
        if match["number"]:
            yield from _number(match)
        elif low in NUMBER_WORDS:
            yield Word(NUMBER_WORDS[low])
        elif low not in FILLERS:
            yield Word(low, is_name=token[:1].isupper() and not is_first, is_definite=is_definite)
        is_definite = is_first = False


def _number(match: re.Match[str]) -> Iterator[Word]:
    """A number without its separators, then its unit."""
    number, unit = match["number"].replace(",", ""), (match["unit"] or "").lower()
    if unit == "k" and is_number(number):
        number, unit = f"{float(number) * 1_000:.0f}", ""
    if unit in {"am", "pm", "st", "nd", "rd", "th"}:
        number, unit = number + unit, ""
    yield Word(number)
    for one in ({"€": "eur", "$": "usd", "£": "gbp"}.get(match["money"] or "", ""), unit):
        if one:
            yield Word(one)


def _clash(old: Statement, new: Statement) -> bool:
    if any(word.text in ADDITIONS for word in new.words) or (old.is_negated and new.is_negated):
        return False
    if old.is_negated or new.is_negated:
        return _stems(old.words) == _stems(new.words) and not _tells_an_event(old.words)
    begin, end = _common(old.words, new.words)
    values = (old.words[begin : len(old.words) - end], new.words[begin : len(new.words) - end])
    if not all(values) or any(word.text in {"and", "or"} for value in values for word in value):
        return False
    before, after = old.words[:begin], old.words[len(old.words) - end :]
    if _swapped(before, *values):
        return True
    kinds = _kinds(*values, are_names=old.is_lower or new.is_lower)
    return max(map(len, values)) <= LONGEST_VALUE and (
        _verbs_clash(before, *values)
        or _roles_clash(before, after)
        or _values_clash(before, after, values, kinds)
    )


def _common(old: Words, new: Words) -> tuple[int, int]:
    """How many words the two begin, and end, with in common."""
    shorter = min(len(old), len(new))
    begin = next((n for n in range(shorter) if old[n].text != new[n].text), shorter)
    ends = range(shorter - begin)
    return begin, next((n for n in ends if old[-1 - n].text != new[-1 - n].text), shorter - begin)


def _stems(words: Words) -> list[str]:
    return [re.sub(r"(?<=\w\w)(?:ing|es|s|e)$", "", word.text) for word in words]


def _tells_an_event(words: Words) -> bool:
    """By a past tense that is no participle: `attended`, not `is enabled`."""
    return any(
        word.text.endswith("ed") and not any(one.text in COPULAS for one in words[:number])
        for number, word in enumerate(words)
        if number
    )


def _swapped(before: Words, old: Words, new: Words) -> bool:
    """`prefers tea to coffee` and `prefers coffee to tea`."""
    if not before or before[-1].text not in PREFERRING or len(old) != len(new) or len(old) < 3:
        return False
    places = [number for number, word in enumerate(old) if word.text in {"to", "over"}]
    return any(old[:n] == new[n + 1 :] and old[n + 1 :] == new[:n] for n in places)


def _verbs_clash(before: Words, old: Words, new: Words) -> bool:
    if not before or len(old) != 1 or len(new) != 1:
        return False
    verbs = {old[0].text}, {new[0].text}
    return any(
        (verbs[0] <= one and verbs[1] <= other) or (verbs[0] <= other and verbs[1] <= one)
        for one, other in OPPOSITE_VERBS
    )


def _roles_clash(before: Words, after: Words) -> bool:
    """`Ana is the project lead`, `Bob is the project lead`: one at a time."""
    if before or len(after) < 2 or after[0].text not in COPULAS or not after[1].is_definite:
        return False
    role = [word.text for word in after[1:]]
    ends = next((n for n, text in enumerate(role) if text in PREPOSITIONS), len(role))
    return ends > 0 and role[ends - 1] in ROLES


def _values_clash(
    before: Words, after: Words, values: tuple[Words, Words], kinds: tuple[str | None, str | None]
) -> bool:
    found = _verb(before)
    if found is None:
        return False
    begin, end, takes_one = found
    verb, kind = before[end - 1].text, kinds[0]
    is_next = all(word.text in PREPOSITIONS for word in before[end:])
    if verb in COPULAS and is_next and _are_states(*values):
        return True
    if kind != kinds[1]:
        return False
    if kind is not None and (kind in AMOUNTS or kind.startswith("number of")):
        return True
    if verb in CHOOSING:
        is_for_the_same = is_next and bool(after) and after[0].text in REASONS
        return is_for_the_same or (verb in PREFERRING and kind not in {None, "name"})
    return is_next and (takes_one or (verb in COPULAS and _has_one(before[:begin], kind)))


def _are_states(old: Words, new: Words) -> bool:
    return len(old) == len(new) == 1 and exclude(old[0].text, new[0].text)


def _verb(before: Words) -> tuple[int, int, bool] | None:
    """Where the first verb begins and ends, and whether it takes one value at a time. It needs a subject."""
    texts = [word.text for word in before]
    for place in range(1, len(texts)):
        for phrase in SINGLE:
            if tuple(texts[place : place + len(phrase)]) == phrase:
                return place, place + len(phrase), True
        if texts[place] in STATE_VERBS:
            return place, place + 1, False
    return None


def _kinds(old: Words, new: Words, *, are_names: bool) -> tuple[str | None, str | None]:
    """Their kinds; with `are_names`, a single word of none is taken for the name that it faces."""
    kinds = kind_of(old), kind_of(new)
    unknown = old if kinds[0] is None else new
    if are_names and set(kinds) == {"name", None} and len(unknown) == 1:
        return "name", "name"
    return kinds


def _has_one(subject: Words, kind: str | None) -> bool:
    """Whether what the copula says of this subject is the only one of its kind."""
    texts = [word.text for word in subject]
    ends = next((n for n, text in enumerate(texts) if text in PREPOSITIONS), len(texts))
    head = texts[ends - 1] if ends else ""
    is_attribute = head in ATTRIBUTES or any(text in CHOSEN for text in texts)
    if kind is None or head in SEVERAL:
        return is_attribute
    if kind != "name":
        return True
    return is_attribute or len(texts) > 1 or subject[0].is_definite
