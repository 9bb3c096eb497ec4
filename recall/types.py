"""What recall is asked and what it answers."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.stages import Stage

# `hybrid`: words, meaning, the turns around, speakers and times. `fused`: likeness, recency and exact names.
# `similarity`: likeness alone. `keyword`: what holds the words, with what they say of it.
Profile = Literal["hybrid", "fused", "similarity", "keyword"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
Arm = Literal["vector", "newest", "hybrid"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to memory. What is None is the policy's, of the agent that is meant."""

    text: str
    where: EpisodeFilter
    top_k: int | None = None
    profile: Profile | None = None
    alpha: float | None = None
    decay: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory, its score and the signals the score is made of."""

    episode: Episode
    score: float
    signals: dict[str, float]
    arm: Arm = "vector"
    added: dict[str, float] = field(
        default_factory=dict
    )  # what each part of a weighted sum gave to the score


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first; how the answer was made; the text that was searched for."""

    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    query_used: str
    model: str
    formula: str
    profile: Profile
