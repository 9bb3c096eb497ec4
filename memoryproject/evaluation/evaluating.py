"""From conversations to figures: one throwaway tenant, every profile on the same questions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from memoryproject.evaluation import tuning
from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.figures import Outcome, find_ranks
from memoryproject.evaluation.report import Assessed, assess
from memoryproject.evaluation.stage import Staged, ask, pools, stage
from memoryproject.evaluation.tenant import throwaway_tenant
from memoryproject.evaluation.tuning import Pool
from memoryproject.replay.transcripts import ADVERSARIAL, Transcript
from recall.ranking.weights import Weights
from recall.types import PROFILES as ASKED
from tenants.caller import Caller

TUNED = "hybrid-loo"  # `hybrid` by weights that were fitted on the other conversations
PROFILES = (*ASKED, TUNED)
USUAL = ("similarity", "fused", "hybrid", TUNED)

Progress = Callable[[str, int], "AbstractContextManager[Any]"]  # unit and total; its `update` is told of more


@dataclass(frozen=True)
class Evaluated:
    """What came out."""

    profiles: Mapping[str, Assessed]
    weights: Weights | None  # fitted on all conversations
    tuned: Assessed | None  # what such weights are worth on a conversation they have not seen
    conversations: int
    questions: int  # that can be answered


def evaluate(
    transcripts: Sequence[Transcript],
    *,
    profiles: Sequence[str],
    fit: bool,
    resamples: int,
    progress: Progress,
) -> Evaluated:
    """The figures of each profile, and with `fit` the weights that all conversations together teach.

    Raises EvaluationError when there is nothing to ask, for `TUNED` with a single conversation, and when
    the embedding model is away; django.db.Error when the database is.
    """
    asked = [one for one in transcripts if answerable(one)]
    if not asked:
        raise EvaluationError("No question has evidence, so there is nothing to measure.")
    if TUNED in profiles and len(asked) < 2:
        raise EvaluationError(
            f"{TUNED} needs at least two conversations: one to ask, the others to learn from."
        )
    with throwaway_tenant() as caller:
        with progress("turns", sum(len(one.turns) for one in asked)) as bar:
            staged = stage(caller, asked, bar.update)
        outcomes = {
            profile: _ask(caller, staged, profile, progress) for profile in profiles if profile != TUNED
        }
        found = _pools(caller, staged, progress) if fit or TUNED in profiles else {}
    if found and len(asked) > 1:
        outcomes[TUNED] = [
            outcome
            for name, rankings in tuning.leave_one_out(found)
            for outcome in _outcomes(name, found[name], rankings)
        ]
    assessed = {profile: assess(some, resamples=resamples) for profile, some in outcomes.items()}
    return Evaluated(
        profiles={name: one for name in profiles if (one := assessed[name])},
        weights=tuning.fit(one for some in found.values() for one in some) if fit else None,
        tuned=assessed.get(TUNED),
        conversations=len(asked),
        questions=sum(map(answerable, asked)),
    )


def answerable(transcript: Transcript) -> int:
    """How many of its questions can be asked: those with evidence of what the conversation holds."""
    return sum(bool(one.evidence) and one.category != ADVERSARIAL for one in transcript.questions)


def _ask(caller: Caller, staged: Sequence[Staged], profile: Any, progress: Progress) -> list[Outcome]:
    with progress(profile, sum(len(one.questions) for one in staged)) as bar:
        return [
            outcome
            for one in staged
            for outcome in _outcomes(one.user_id, one.questions, ask(caller, one, profile, bar.update))
        ]


def _pools(caller: Caller, staged: Sequence[Staged], progress: Progress) -> dict[str, list[Pool]]:
    with progress(f"{TUNED} signals", sum(len(one.questions) for one in staged)) as bar:
        return {one.user_id: list(pools(caller, one, bar.update)) for one in staged}


def _outcomes(
    conversation: str, questions: Iterable[Any], rankings: Iterable[Sequence[str]]
) -> Iterable[Outcome]:
    """`questions` have `evidence` and `category`."""
    for question, ranking in zip(questions, rankings, strict=True):
        yield Outcome(conversation, question.category, find_ranks(question.evidence, ranking))
