"""What recall is asked and what it answers."""

from dataclasses import dataclass
from typing import Literal

from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.stages import Stage

# `fused`: likeness, recency and exact names, as the policy weighs them. `similarity`: likeness alone.
Profile = Literal["fused", "similarity"]
Arm = Literal["vector", "newest"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to memory. What is None is the policy's, of the agent that is meant."""

    text: str
    where: EpisodeFilter
    top_k: int | None = None
    profile: Profile = "similarity"
    alpha: float | None = None
    decay: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory, its score and the signals the score is made of."""

    episode: Episode
    score: float
    signals: dict[str, float]
    arm: Arm = "vector"


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first; how the answer was made; the text that was searched for."""

    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    query_used: str
    model: str
    formula: str
