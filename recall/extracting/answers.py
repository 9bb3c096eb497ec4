"""What the language model is asked to answer with, and what counts of it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from recall.extracting.types import Candidate
from recall.extracting.wording import shorten

MOST = 50  # memories of one answer
MOST_TOPICS, MOST_ENTITIES, LONGEST_NAME = 10, 20, 100
YEARS = range(1000, 9999)


class Preference(BaseModel):
    """Something that holds. Bounds are checked afterwards: one bad memory must not cost the others."""

    text: str
    topics: list[str]
    entities: list[str]
    messages: list[int]


class Memory(Preference):
    """Something that holds, or that happened."""

    memory_type: Literal["semantic", "episodic"]
    event_date: str | None


class Preferences(BaseModel):
    """Answer to the prompt `extract_preferences`."""

    memories: list[Preference]


class Memories(BaseModel):
    """Answer to the prompts `extract_discrete` and `extract_custom`."""

    memories: list[Memory]


class ThreadSummary(BaseModel):
    """Answer to the prompt `extract_summary`."""

    summary: str
    topics: list[str]
    entities: list[str]


def read_memories(found: Iterable[Preference], *, numbers: Sequence[int]) -> tuple[Candidate, ...]:
    """The answer as candidates, each text once. `numbers`: of the turn behind each message that was shown; a
    memory that names none of them may come from any."""
    by_text = {one.text: one for one in _candidates(found, numbers) if one.text}
    return tuple(by_text.values())[:MOST]


def tidy(text: str) -> str:
    """Without what no text may hold."""
    return text.replace("\x00", "").strip()


def names(given: Iterable[str], most: int) -> tuple[str, ...]:
    """Those that are names, each once."""
    tidied = (tidy(one) for one in given)
    return tuple(dict.fromkeys(one for one in tidied if 0 < len(one) <= LONGEST_NAME))[:most]


def _candidates(found: Iterable[Preference], numbers: Sequence[int]) -> Iterator[Candidate]:
    for one in found:
        places = [place for place in dict.fromkeys(one.messages) if 0 < place <= len(numbers)]
        yield Candidate(
            text=shorten(tidy(one.text)),
            memory_type=one.memory_type if isinstance(one, Memory) else "semantic",
            topics=names(one.topics, MOST_TOPICS),
            entities=names(one.entities, MOST_ENTITIES),
            event_date=_moment(one.event_date) if isinstance(one, Memory) else None,
            sources=tuple(numbers[place - 1] for place in places) or tuple(numbers),
        )


def _moment(text: str | None) -> datetime | None:
    """None for what names no moment, such as "last summer"."""
    try:
        moment = datetime.fromisoformat(tidy(text or ""))
    except ValueError:
        return None
    if moment.year not in YEARS:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
