"""What recall is asked and what it answers."""

from dataclasses import dataclass

from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.stages import Stage


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to memory."""

    text: str
    where: EpisodeFilter
    top_k: int | None = None  # the policy's of the agent that is meant


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory, its score and the signals the score is made of."""

    episode: Episode
    score: float
    signals: dict[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first; how the answer was made; the text that was searched for."""

    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    query_used: str
    model: str
