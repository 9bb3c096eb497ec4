"""A recorded conversation and the questions asked about it, whichever file they came from."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

ADVERSARIAL = 5  # LoCoMo's category of questions that the conversation does not answer


@dataclass(frozen=True)
class Turn:
    """One thing said."""

    id: str  # unique in the transcript
    speaker: str
    role: str  # user or assistant
    text: str
    at: datetime  # aware
    caption: str = ""  # of a picture sent along

    @property
    def content(self) -> str:
        """What was said, with what was shown."""
        return f"{self.text} [shares {self.caption}]" if self.caption else self.text

    @property
    def message(self) -> str:
        """The text that is remembered: a memory read later must still say who spoke."""
        return f"{self.speaker}: {self.content}"


@dataclass(frozen=True)
class Session:
    """Turns without a longer pause between them."""

    id: str  # unique in the transcript
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Question:
    """Something asked afterwards."""

    text: str
    answer: str  # empty: there is none
    evidence: tuple[str, ...]  # turn ids, each once, all of them in the transcript
    category: int | None = None


@dataclass(frozen=True)
class Transcript:
    """One conversation."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    unusable: tuple[str, ...] = ()  # evidence entries that name no turn of this transcript

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns in the order they were said."""
        return tuple(turn for session in self.sessions for turn in session.turns)


def split_evidence(named: Iterable[str], known: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids that exist, each once and in order, and those that do not."""
    ids = tuple(dict.fromkeys(named))
    return tuple(i for i in ids if i in known), tuple(i for i in ids if i not in known)


def repeated(ids: Iterable[str]) -> str | None:
    """The first id that occurs twice."""
    seen: set[str] = set()
    for i in ids:
        if i in seen:
            return i
        seen.add(i)
    return None
