"""An answer without near-duplicates: maximal marginal relevance over what a ranking found."""

from collections.abc import Sequence
from dataclasses import replace

from episodic.access import vectors_of
from recall.ranking.diversity import diversify, likeness_of
from recall.stages import Stage, timed
from recall.types import Hit, Spread
from tenants.caller import Caller
from tenants.errors import Overdue

LEAST, TIMES = 50, 4  # candidates, at least, and for each that is wanted


def pool_of(wanted: int) -> int:
    """How many of the best are chosen from."""
    return max(LEAST, TIMES * wanted)


def spread_out(
    caller: Caller, hits: Sequence[Hit], *, wanted: int, share: float, stages: list[Stage]
) -> list[Hit]:
    """The `wanted` hits that are relevant and unlike each other; `share` is what relevance counts for against
    that. Scores stay what they are. Where the vectors do not come in time, words tell what is alike."""
    vectors = {}
    try:
        with timed("mmr", stages):
            vectors = vectors_of(caller=caller, ids=[hit.episode.id for hit in hits])
    except Overdue:
        pass  # the stage says so
    likeness = likeness_of([vectors.get(hit.episode.id) for hit in hits], [hit.episode.text for hit in hits])
    picked = diversify([hit.score for hit in hits], likeness, wanted=wanted, share=share)
    return [
        replace(hits[one.place], spread=Spread(one.relevance, one.likeness, (1 - share) * one.likeness))
        for one in picked
    ]
