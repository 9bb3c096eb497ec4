"""Stores conversations as verbatim memories, and asks for them by recall."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.embedding import embed_tenant
from episodic.episodes import build_episode
from episodic.inserting import insert_episodes
from episodic.models import Episode, MemoryType
from episodic.types import EpisodeFilter, NewEpisode
from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.figures import DEPTH
from memoryproject.evaluation.tuning import Pool
from memoryproject.replay.transcripts import Question, Transcript, Turn
from recall.hybrid import EACH, TIMES, candidates_for
from recall.recall import recall
from recall.stages import Stage
from recall.types import Profile, RecallQuery
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.policy.reading import read_policy
from tenants.scope import scope

AFTERWARDS = timedelta(days=1)  # how long after the last turn the questions are asked
EACH_ARM = max(EACH, TIMES * DEPTH)  # candidates by meaning, and by words, as recall takes them
AWAY = "The embedding model is away, so nothing can be compared by meaning."

Advance = Callable[[int], object]  # told how much more is done


@dataclass(frozen=True)
class Staged:
    """A conversation in memory, and the questions about it that have evidence."""

    user_id: str  # also its name: ids of transcripts may repeat
    turns: Mapping[UUID, str]  # turn ids by episode
    asked_at: datetime
    questions: tuple[Question, ...]
    vectors: NDArray[np.float32]  # of the questions

    @property
    def where(self) -> EpisodeFilter:
        """The conversation's memories and no other."""
        return EpisodeFilter(user_id=self.user_id)


def stage(caller: Caller, transcripts: Sequence[Transcript], advance: Advance) -> list[Staged]:
    """Stores each conversation for a user of its own and embeds everything; `advance` counts turns.

    Raises EvaluationError when the embedding model is away.
    """
    stored = [
        _store(caller, one, f"conversation-{number}") for number, one in enumerate(transcripts, start=1)
    ]
    for count in embed_tenant(caller.tenant_id):
        advance(count)
    with scope(caller.tenant_id):
        if Episode.objects.filter(tenant_id=caller.tenant_id, embed_pending=True).exists():
            raise EvaluationError(AWAY)
    return stored


def ask(caller: Caller, staged: Staged, profile: Profile, advance: Advance) -> Iterator[tuple[str, ...]]:
    """The turn ids that recall answers to each question, best first, at most `DEPTH`."""
    for question, vector in zip(staged.questions, staged.vectors, strict=True):
        query = RecallQuery(question.text, staged.where, DEPTH, profile)
        found = recall(
            caller=caller, query=query, embedding=_known(vector), now=staged.asked_at, counted=False
        )
        check_whole(found.stages)
        yield tuple(staged.turns[hit.episode.id] for hit in found.hits)
        advance(1)


def pools(caller: Caller, staged: Staged, advance: Advance) -> Iterator[Pool]:
    """What recall chooses from for each question, with its signals."""
    decay = read_policy(tenant_id=caller.tenant_id).recall.decay
    for question, vector in zip(staged.questions, staged.vectors, strict=True):
        stages: list[Stage] = []
        found = candidates_for(
            caller=caller,
            text=question.text,
            where=staged.where,
            now=staged.asked_at,
            wanted=DEPTH,
            decay=decay,
            embedding=_known(vector),
            stages=stages,
        )
        check_whole(stages)
        turns = [staged.turns[one] for one in found.ids]
        yield Pool(
            question.evidence,
            question.category,
            tuple(turn for turn, admitted in zip(turns, found.admitted, strict=True) if admitted),
            found.signals[found.admitted],
        )
        advance(1)


def check_whole(stages: Iterable[Stage]) -> None:
    """Raises EvaluationError when a stage failed; what is skipped without that is no part of the ranking."""
    if missing := [one.name for one in stages if one.status == "failed"]:
        raise EvaluationError(f"Recall went on without {', '.join(missing)}: the figures would be wrong.")


def _known(vector: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
    return lambda: vector


def _store(caller: Caller, transcript: Transcript, user_id: str) -> Staged:
    turns: dict[UUID, str] = {}
    for session in transcript.sessions:
        episodes = [
            _episode(caller, turn, user_id=user_id, session_id=session.id, place=place)
            for place, turn in enumerate(session.turns, start=1)
        ]
        with scope(caller.tenant_id):
            insert_episodes(episodes)
        turns |= {episode.id: turn.id for episode, turn in zip(episodes, session.turns, strict=True)}
    questions = tuple(one for one in transcript.questions if one.evidence)
    vectors = try_embed([one.text for one in questions], tenant_id=caller.tenant_id, interactive=False)
    if vectors is None:
        raise EvaluationError(AWAY)
    asked_at = max(turn.at for turn in transcript.turns) + AFTERWARDS
    return Staged(user_id, turns, asked_at, questions, vectors)


def _episode(caller: Caller, turn: Turn, *, user_id: str, session_id: str, place: int) -> Episode:
    """As old as what was said."""
    new = NewEpisode(
        text=turn.message,
        user_id=user_id,
        session_id=session_id,
        memory_type=MemoryType.MESSAGE,
        covers_turns=(place, place),
        event_date=turn.at,
    )
    return build_episode(caller=caller, new=new, now=turn.at)
