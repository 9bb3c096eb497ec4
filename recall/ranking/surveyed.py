"""The order of records that were surveyed: by words and meaning, and by how lately they were used. Pure."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from episodic.surveyed import Floats, Survey
from recall.ranking.recency import RecencyWeights, recency_of, score_of

Mode = Literal["semantic", "keyword", "hybrid"]
DAY = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Ranking:
    """How records are ranked at a moment. `alpha`: what the vector counts for in `hybrid`; `recency` None:
    likeness alone; `farthest`: no greater distance, in `semantic`."""

    mode: Mode
    alpha: float
    recency: RecencyWeights | None
    farthest: float | None
    at: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """The places of the first records that are wanted, best first, and how many are found; by place, of all
    that were surveyed, their likeness, no more than 1 in `keyword` and `hybrid`, and their scores."""

    rows: NDArray[np.intp]
    count: int
    likeness: Floats
    scores: Floats


def rank(ranking: Ranking, survey: Survey, end: int) -> Ranked:
    """The first `end`. Of equals the newer comes first."""
    likeness = _likeness(ranking, survey.cosines, survey.words, best=_best(ranking, survey))
    scores = _scores(ranking, likeness, survey.created, survey.used)
    found = np.flatnonzero(_is_found(ranking, survey))
    rows = found
    if end < len(found):  # to put all in order takes longer than to leave out what comes later
        least = np.partition(scores[found], len(found) - end - 1)[len(found) - end - 1]
        rows = found[scores[found] >= least]
    numbers = survey.id_numbers(rows)
    order = np.lexsort((~numbers[:, 1], ~numbers[:, 0], -likeness[rows], -scores[rows]))
    return Ranked(rows[order[:end]], len(found), likeness, scores)


def is_decided(ranking: Ranking, survey: Survey, ranked: Ranked, end: int) -> bool:
    """Whether the first `end` are the best of all, and `found_in_all` is known."""
    unseen = survey.unseen
    if unseen is None:
        return True
    if ranking.farthest is not None:
        return unseen.cosine < 1 - ranking.farthest
    if ranking.mode == "keyword" and not unseen.words:
        return True
    best = _best(ranking, survey)
    likest = _likeness(ranking, np.array([unseen.cosine]), np.array([unseen.words]), best=best)
    if len(ranked.rows) < end or likest[0] > 1 or not _is_monotone(ranking.recency):
        return False
    highest = _scores(ranking, likest, np.array([unseen.created]), np.array([unseen.used]))
    return not end or bool(ranked.scores[ranked.rows[end - 1]] >= highest[0])


def found_in_all(ranking: Ranking, survey: Survey, ranked: Ranked) -> int:
    """How many are found, those that were not looked at included."""
    is_whole = survey.unseen is None or ranking.farthest is not None
    return ranked.count if is_whole else survey.total


def _is_found(ranking: Ranking, survey: Survey) -> NDArray[np.bool_]:
    if ranking.mode == "keyword":
        return survey.words > 0
    if ranking.mode == "hybrid":
        return np.ones(len(survey.ids), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        farthest = np.inf if ranking.farthest is None else ranking.farthest
        found: NDArray[np.bool_] = 1 - survey.cosines <= farthest
    return found


def _best(ranking: Ranking, survey: Survey) -> tuple[float, float]:
    """The most that words say of any, and the most that words and meaning say together."""
    words = float(survey.words.max(initial=0.0)) or 1.0
    both = _both(ranking, survey.cosines, survey.words, words)
    return words, float(both.max(initial=0.0)) or 1.0


def _likeness(ranking: Ranking, cosines: Floats, words: Floats, *, best: tuple[float, float]) -> Floats:
    if ranking.mode == "keyword":
        return words / best[0]
    if ranking.mode == "hybrid":
        return _both(ranking, cosines, words, best[0]) / best[1]
    return np.nan_to_num(cosines, nan=0.0, neginf=-1.0)


def _both(ranking: Ranking, cosines: Floats, words: Floats, most_words: float) -> Floats:
    likeness = np.nan_to_num(cosines, nan=0.0, neginf=0.0).clip(min=0.0)
    total: Floats = ranking.alpha * likeness + (1 - ranking.alpha) * words / most_words
    return total


def _scores(ranking: Ranking, likeness: Floats, created: Floats, used: Floats) -> Floats:
    if ranking.recency is None:
        return likeness
    recency = recency_of(
        ranking.recency, unused_days=(ranking.at - used) / DAY, age_days=(ranking.at - created) / DAY
    )
    return score_of(ranking.recency, cosines=likeness, recency=recency)


def _is_monotone(recency: RecencyWeights | None) -> bool:
    """Whether what is liker, newer and used later never scores less."""
    return recency is None or (
        min(recency.semantic, recency.recency, recency.freshness, recency.novelty) >= 0
    )
