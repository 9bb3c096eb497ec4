"""Two rankings of the same items as one, by a weighted sum of their scores. Pure."""

import math
from collections.abc import Iterable, Mapping


def fuse(
    *, keyword: Mapping[int, float], semantic: Mapping[int, float], weight: float
) -> list[tuple[int, float]]:
    """(id, score) of every item of either ranking, best first; equal scores by ascending id.

    The score is `weight` (0 to 1) times the keyword signal plus the rest times the semantic one, each brought
    to 0…1 by its least and greatest score over all items. Of both scores more is better. An item that a
    ranking lacks, or has with a score that is no finite number (a cosine with an empty vector), scored 0
    there: no word matched, nothing in common.
    """
    both = shares(keyword=keyword, semantic=semantic)
    fused = [(one, weight * words + (1 - weight) * meaning) for one, (words, meaning) in both.items()]
    return sorted(fused, key=lambda item: (-item[1], item[0]))


def shares(*, keyword: Mapping[int, float], semantic: Mapping[int, float]) -> dict[int, tuple[float, float]]:
    """What `fuse` weighs: both signals of every item, each from 0 to 1."""
    ids = keyword.keys() | semantic.keys()
    by_words, by_meaning = _normalise(keyword, ids), _normalise(semantic, ids)
    return {one: (by_words[one], by_meaning[one]) for one in ids}


def _normalise(ranking: Mapping[int, float], ids: Iterable[int]) -> dict[int, float]:
    """Min-max over `ids`. What is missing is 0, never above an item that is there, even one that scored less
    than 0. What is there is 1 when no two scores differ."""
    found = {one: score for one, score in ranking.items() if math.isfinite(score)}
    if not found:
        return dict.fromkeys(ids, 0.0)
    complete = all(one in found for one in ids)
    least, greatest = min(found.values()), max(found.values())
    floor = least if complete else min(least, 0.0)
    if greatest == floor:
        return {one: float(one in found) for one in ids}
    return {one: (found[one] - floor) / (greatest - floor) if one in found else 0.0 for one in ids}
