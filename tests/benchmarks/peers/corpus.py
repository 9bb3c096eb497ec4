"""What is remembered and asked: whole conversations, and parts of them for many users. Pure."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryproject.replay.transcripts import ADVERSARIAL, Session, Transcript

PART = 40  # turns of a part, or more: sessions stay whole
SEED = 1


@dataclass(frozen=True, slots=True)
class Item:
    """A turn of a user's."""

    user: str
    key: str  # unique for the user
    text: str
    session: str
    place: int  # in the session, from 1
    at: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a user's turns, with the keys of those that hold the answer."""

    user: str
    text: str
    evidence: tuple[str, ...]
    category: int | None
    conversation: str  # that it is from


@dataclass(frozen=True)
class Corpus:
    """Everything said, in order, and everything asked."""

    items: tuple[Item, ...]
    questions: tuple[Asked, ...]

    @property
    def users(self) -> int:
        return len({item.user for item in self.items})

    def sample(self, count: int | None) -> "Corpus":
        """With so many of the questions, the same ones each time; in the order in which they stand."""
        if count is None or count >= len(self.questions):
            return self
        drawn = sorted(random.Random(SEED).sample(range(len(self.questions)), count))
        return Corpus(self.items, tuple(self.questions[at] for at in drawn))


def whole(transcripts: Sequence[Transcript]) -> Corpus:
    """Each conversation is a user's."""
    return _joined(_held(f"conversation-{at}", one, one.sessions) for at, one in enumerate(transcripts, 1))


def crowd(transcripts: Sequence[Transcript], users: int) -> Corpus:
    """The conversations cut into parts of whole sessions, dealt out to so many users in turn; asked is what
    a part answers by itself."""
    parts = [(transcript, part) for transcript in transcripts for part in cut(transcript.sessions)]
    return _joined(_held(f"user-{at:03}", *parts[at % len(parts)]) for at in range(users))


def cut(sessions: Sequence[Session]) -> list[tuple[Session, ...]]:
    """Neighbouring sessions, together of `PART` turns or more; what is left over belongs to the last."""
    parts: list[list[Session]] = [[]]
    for session in sessions:
        if _turns(parts[-1]) >= PART:
            parts.append([])
        parts[-1].append(session)
    if len(parts) > 1 and _turns(parts[-1]) < PART:
        left_over = parts.pop()
        parts[-1] += left_over
    return [tuple(part) for part in parts]


def _turns(sessions: Iterable[Session]) -> int:
    return sum(len(session.turns) for session in sessions)


def _held(user: str, transcript: Transcript, sessions: Sequence[Session]) -> Corpus:
    items = tuple(
        Item(user, turn.id, turn.message, session.id, place, turn.at)
        for session in sessions
        for place, turn in enumerate(session.turns, 1)
    )
    return Corpus(items, tuple(_asked(user, transcript, {item.key for item in items})))


def _asked(user: str, transcript: Transcript, known: set[str]) -> Iterator[Asked]:
    for one in transcript.questions:
        if one.evidence and one.category != ADVERSARIAL and known.issuperset(one.evidence):
            yield Asked(user, one.text, one.evidence, one.category, transcript.id)


def _joined(parts: Iterable[Corpus]) -> Corpus:
    held = list(parts)
    return Corpus(
        tuple(item for one in held for item in one.items),
        tuple(question for one in held for question in one.questions),
    )
