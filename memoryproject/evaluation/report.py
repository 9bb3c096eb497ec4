"""The figures of a profile as one JSON object: the contract of `manage.py evaluate --json`. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memoryproject.evaluation import bootstrap, figures
from memoryproject.evaluation.figures import Outcome
from memoryproject.replay.transcripts import ADVERSARIAL

DIGITS = 4

Assessed = Mapping[str, Any]  # figures by name, `by_category`, `ci95`, `questions`


def assess(outcomes: Sequence[Outcome], *, resamples: int) -> Assessed | None:
    """The overall figures, of what can be answered, with their intervals; and those of each category.

    None when there is nothing to be found. `ci95` is empty for a single conversation.
    """
    answerable = [one for one in outcomes if one.ranks and one.category != ADVERSARIAL]
    if not answerable:
        return None
    clusters = [figures.table_of(some) for some in _by_conversation(answerable).values()]
    edges = bootstrap.intervals(clusters, resamples=resamples)
    return {
        **_rounded(figures.means(answerable)),
        "by_category": {
            str(category): {**_rounded(figures.means(some)), "questions": len(some)}
            for category, some in _by_category(outcomes).items()
        },
        "ci95": {
            name: [round(float(edge), DIGITS) for edge in edges[:, at]]
            for at, name in enumerate(figures.NAMES)
        }
        if edges is not None
        else {},
        "questions": len(answerable),
    }


def _by_conversation(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    found = defaultdict(list)
    for one in outcomes:
        found[one.conversation].append(one)
    return found


def _by_category(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    found = defaultdict(list)
    for one in outcomes:
        if one.ranks and one.category is not None:
            found[one.category].append(one)
    return dict(sorted(found.items()))


def _rounded(means: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in means.items()}
