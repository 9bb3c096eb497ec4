"""What a subject's words are weighed by: counted at each search where that is quick, else kept for a minute.

Size, speakers, years and the frequencies of words change little in that time, and the weight of a word grows
with the logarithm of both; new episodes are found at once either way.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from episodic import word_queries
from episodic.types import EpisodeFilter

SMALL = 500  # episodes that are counted each time
SERVES = 60.0  # seconds
SUBJECTS_KEPT, WORDS_KEPT = 5_000, 1_000


@dataclass(frozen=True, slots=True)
class Figures:
    """How many episodes, their mean number of lexemes, who spoke, by lexeme, the years they tell of; and in
    how many of them a lexeme stands, as far as that was `counted`."""

    documents: int
    mean_length: float
    speakers: frozenset[str]
    years: range
    counted: dict[str, int] = field(default_factory=dict, compare=False)

    def count(self, found: Mapping[str, int]) -> None:
        """Enters what was counted."""
        if len(self.counted) > WORDS_KEPT:
            self.counted.clear()
        self.counted.update(found)


_Subject = tuple[UUID, str | None, str | None, str | None]
_lock = threading.Lock()
_kept: OrderedDict[_Subject, tuple[float, Figures]] = OrderedDict()


def read_figures(*, tenant_id: UUID, where: EpisodeFilter) -> Figures:
    """Of all that is within the user, agent and project of the filter, whatever else is asked for: what a key
    is bound to is among these, so that no score tells of what it may not read. In an open scope."""
    subject = (tenant_id, where.user_id, where.agent_id, where.project)
    with _lock:
        until, figures = _kept.get(subject, (0.0, None))
        if figures is not None and time.monotonic() < until:
            return figures
    documents, lexemes, first, last, speakers = word_queries.figures_of(tenant_id=tenant_id, where=where)
    years = range(first, last + 1) if documents else range(0)
    figures = Figures(documents, lexemes / max(documents, 1), frozenset(speakers) - {""}, years)
    if documents > SMALL:
        _keep(subject, figures)
    return figures


def _keep(subject: _Subject, figures: Figures) -> None:
    now = time.monotonic()
    with _lock:
        _kept.pop(subject, None)
        _kept[subject] = (now + SERVES, figures)
        while len(_kept) > SUBJECTS_KEPT or next(iter(_kept.values()))[0] < now:  # the oldest first
            _kept.popitem(last=False)
