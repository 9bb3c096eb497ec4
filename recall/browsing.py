"""Looking through episodes by what they say, as a person does who has a filter set."""

from datetime import datetime

from episodic.types import EpisodeFilter, EpisodeTraits
from recall.recall import recall
from recall.types import Hit, RecallQuery
from tenants.caller import Caller

MOST_FOUND = 100


def find_episodes(
    *, caller: Caller, text: str, where: EpisodeFilter, traits: EpisodeTraits, now: datetime
) -> list[Hit]:
    """Those of the `MOST_FOUND` that answer the text best which have the traits, best first. They do not
    count as told to anybody. Raises what `recall` raises."""
    query = RecallQuery(text, where, top_k=MOST_FOUND)
    found = recall(caller=caller, query=query, now=now, counted=False)
    return [hit for hit in found.hits if traits.admit(hit.episode)]
