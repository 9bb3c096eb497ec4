"""What the language model is shown of a conversation: cleaned, numbered, dated, bounded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recall.remember.extraction import showable
from screening.fences import strip_fences
from working.extracted import Said

MOST_MESSAGES = 100  # of one run: the rest is for the next
MOST_CHARACTERS = 24_000  # of them; some 6,000 tokens
LONGEST_RESULT = 1_000  # characters of a tool's result: what came of it is mostly said afterwards
LONGEST_EARLIER = 500  # characters of what was said before
NOTHING = "(nothing)"
UNHEARD = "system"  # the role of what was set up, and said by nobody


@dataclass(frozen=True, slots=True)
class Shown:
    """The messages as they are shown, and the number of the turn behind each, from the first on."""

    text: str
    numbers: tuple[int, ...]


def first_run(messages: Sequence[Said]) -> Sequence[Said]:
    """As many of the messages, from the first, as one run looks at; one at least."""
    total = 0
    for count, one in enumerate(messages):
        total += 0 if one.is_marked else len(one.text)
        if count and (total > MOST_CHARACTERS or count == MOST_MESSAGES):
            return messages[:count]
    return messages


def cleaned(messages: Iterable[Said]) -> list[Said]:
    """Each without what was injected, gives orders to the model, or is sensitive; those of which nothing is
    left are left out."""
    texts = ((one, showable(strip_fences(one.text)).strip()) for one in messages if one.role != UNHEARD)
    return [replace(one, text=_cut(text, one)) for one, text in texts if text]


def show(messages: Iterable[Said]) -> Shown:
    """Each with its place among them and its day."""
    clean = cleaned(messages)
    lines = [f"[{place}] {_line(one)}" for place, one in enumerate(clean, 1)]
    return Shown("\n".join(lines), tuple(one.seq for one in clean))


def show_earlier(messages: Iterable[Said]) -> str:
    """Likewise, in short and without numbers: nothing is extracted from it."""
    return "\n".join(_line(one)[:LONGEST_EARLIER] for one in cleaned(messages)) or NOTHING


def _line(one: Said) -> str:
    return f"{one.said_at:%Y-%m-%d} {one.role}: {one.text}"


def _cut(text: str, one: Said) -> str:
    return f"{text[:LONGEST_RESULT]}…" if one.role == "tool" and len(text) > LONGEST_RESULT else text
