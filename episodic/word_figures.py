"""What a subject's words are weighed by: counted at each search where that is quick, else kept for a minute.
Size, speakers and years change little in that time; new episodes are found at once either way."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

from episodic import word_queries
from episodic.types import EpisodeFilter

SMALL = 500  # episodes that are counted each time
SERVES = 60.0  # seconds
SUBJECTS_KEPT = 5_000


@dataclass(frozen=True, slots=True)
class Figures:
    """How many episodes, their mean number of lexemes, who spoke, by lexeme, and the years they tell of."""

    documents: int
    mean_length: float
    speakers: frozenset[str]
    years: tuple[int, ...]


_Subject = tuple[UUID, str | None, str | None]
_lock = threading.Lock()
_kept: OrderedDict[_Subject, tuple[float, Figures]] = OrderedDict()


def read_figures(*, tenant_id: UUID, where: EpisodeFilter) -> Figures:
    """Of all that the user or the agent has, whatever else is asked for. In an open scope."""
    subject = (tenant_id, where.user_id, where.agent_id if not where.user_id else None)
    with _lock:
        until, figures = _kept.get(subject, (0.0, None))
        if figures is not None and time.monotonic() < until:
            _kept.move_to_end(subject)
            return figures
    documents, lexemes, first, last, speakers = word_queries.figures_of(tenant_id=tenant_id, where=where)
    years = tuple(range(first, last + 1)) if documents else ()
    figures = Figures(documents, lexemes / max(documents, 1), frozenset(speakers) - {""}, years)
    if documents > SMALL:
        _keep(subject, figures)
    return figures


def _keep(subject: _Subject, figures: Figures) -> None:
    with _lock:
        _kept.pop(subject, None)
        _kept[subject] = (time.monotonic() + SERVES, figures)
        if len(_kept) > SUBJECTS_KEPT:
            _kept.popitem(last=False)
