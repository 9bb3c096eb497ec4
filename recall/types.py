"""What recall is asked and what it answers."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from episodic.models import Episode
from episodic.types import EpisodeFilter
from lexical.averages import Average
from recall.ranking.recency import RecencyWeights
from recall.stages import Stage
from recall.trials import Variant

# `hybrid`: words, meaning, the turns around, speakers and times. `fused`: likeness, recency and exact names.
# `recency`: likeness, and how lately it was used and written. `similarity`: likeness alone. `keyword`: what
# holds the words, with what they say of it.
Profile = Literal["hybrid", "fused", "recency", "similarity", "keyword"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
Arm = Literal["vector", "newest", "accessed", "hybrid"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to memory. What is None is the policy's, of the agent that is meant; without
    `recency_weights` the usual ones hold. `mmr`, from 0 to 1, is what relevance counts for against being
    unlike the rest of the answer; None or 1: relevance alone. `session` is the one it is asked in, if any."""

    text: str
    where: EpisodeFilter
    top_k: int | None = None
    profile: Profile | None = None
    alpha: float | None = None
    decay: float | None = None
    mmr: float | None = None
    recency_weights: RecencyWeights | None = None
    session: str = ""

    @property
    def names_ranking(self) -> bool:
        """Whether it says itself how memories are ranked: then it is in no trial."""
        return not (self.profile is None and self.alpha is None and self.decay is None)


@dataclass(frozen=True, slots=True)
class Spread:
    """Why a hit is where it is in an answer without near-duplicates: its relevance, from 0 to 1 within the
    query, how like it is to the likest above it, and what that took off."""

    relevance: float
    likeness: float
    taken_off: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory, its score and the signals the score is made of. `average` is that of all candidates
    that it was ranked among, before what is added behind the ranking (`echo`, `feedback`)."""

    episode: Episode
    score: float
    signals: dict[str, float]
    arm: Arm = "vector"
    added: dict[str, float] = field(
        default_factory=dict
    )  # what each part of a weighted sum gave to the score
    spread: Spread | None = None
    average: Average | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first; how the answer was made, and by which setting of a trial; the text that was
    searched for."""

    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    query_used: str
    model: str
    formula: str
    profile: Profile
    variant: Variant = ""
