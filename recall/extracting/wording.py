"""Facts in words, and what texts are about, without a model. Pure."""

import re
from collections import Counter
from collections.abc import Iterator

from lexical.analysis import analyse, is_stop_word
from recall.remember.candidates import Fact

LONGEST = 1_000  # characters of a record that was extracted
MOST_TOPICS = 3
SHORTEST_TOPIC = 4  # letters
END = re.compile(r"[.!?…。][\"')\]]*(?=\s)")
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
TOKEN = re.compile(r"\w[\w'-]*")
BEGINS = re.compile(r"[.!?…:\"“\n]")  # a sentence, or words of somebody
PRONOUNS = frozenset(("I", "I'm", "I've", "I'd", "I'll"))
MOST_NAMES = 10
# Of what the rules know, what somebody wishes or likes.
TASTES = frozenset(
    ("preference", "favorite", "instruction", "diet", "preferred_language", "preferred_name", "hobby")
)
OF_SOMEBODY = frozenset(("family", "person", "pet", "date"))  # the rest of the key says of what


def text_of(fact: Fact) -> str:
    """A sentence or less that can stand alone."""
    head, _, rest = fact.key.replace("_", " ").partition(":")
    value, is_told = fact.value, rest in fact.value.lower()
    if head == "preference":
        if value.startswith(("likes ", "dislikes ")):
            return f"User {value}"
        is_plain = is_told or " or " in rest
        return f"User prefers {value}" if is_plain else f"User's preferred {rest}: {value}"
    if head == "instruction":
        return f"User wishes: {value}"
    if head in OF_SOMEBODY and rest:
        return f"User's {rest}: {value}"
    if head == "favorite":
        return f"User's favorite {rest}: {value}"
    return f"User's {head}: {value}" if is_told else f"User's {head} ({rest}): {value}"


def is_taste(fact: Fact) -> bool:
    """Whether it says what somebody wishes or likes."""
    return fact.key.partition(":")[0] in TASTES


def topics_of_fact(fact: Fact) -> tuple[str, ...]:
    """The parts of its key."""
    return tuple(part for part in fact.key.replace("_", " ").split(":") if part)


def names_of_fact(fact: Fact) -> tuple[str, ...]:
    """The names that its value is made of."""
    parts = (part.strip() for part in fact.value.split(","))
    return tuple(part for part in parts if part[:1].isupper())


def topics_of(text: str) -> tuple[str, ...]:
    """The words that stand in it most often and mean something, the most frequent first."""
    names = {word.lower() for name in names_in(text) for word in name.split()}
    words = [word.lower() for word in WORD.findall(text)]
    counts = Counter(
        word for word in words if len(word) >= SHORTEST_TOPIC and word not in names and not _is_empty(word)
    )
    return tuple(word for word, _count in counts.most_common(MOST_TOPICS))


def names_in(text: str) -> tuple[str, ...]:
    """What is written with capitals within sentences, each once: "New York", "Boeing 747"."""
    found: list[str] = []
    run, end = "", 0
    for token in TOKEN.finditer(text):
        word, gap = token[0], text[end : token.start()]
        is_name = word[0].isupper() and word not in PRONOUNS and bool(end) and not BEGINS.search(gap)
        if run and gap == " " and (is_name or word.isdigit()):
            run = f"{run} {word}"
        else:
            found.append(run)
            run = word if is_name else ""
        end = token.end()
    return tuple(dict.fromkeys(one for one in (*found, run) if one))[:MOST_NAMES]


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text as far as its last whole sentence that fits; without one, as far as its last whole word."""
    if len(text) <= longest:
        return text
    if ends := [one.end() for one in END.finditer(text[: longest + 1]) if one.end() <= longest]:
        return text[: ends[-1]]
    head, _, _ = text[:longest].rpartition(" ")
    return f"{(head or text)[: longest - 1]}…"


def within_words(text: str, most: int) -> str:
    """Likewise, by a number of words."""
    ends = _ends(text)
    last = next((end for count, end in enumerate(ends, 1) if count == most), len(text))
    return shorten(text, last) if next(ends, None) is not None else text


def _ends(text: str) -> Iterator[int]:
    return (one.end() for one in re.finditer(r"\S+", text))


def _is_empty(word: str) -> bool:
    return all(map(is_stop_word, analyse(word)))
