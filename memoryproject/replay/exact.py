"""The same ranking without the server: every message embedded here, compared with every question."""

from collections.abc import Sequence

import numpy as np
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from memoryproject.replay import score
from memoryproject.replay.errors import ReplayError
from memoryproject.replay.player import Answered
from memoryproject.replay.transcripts import Transcript, Turn
from providers.embeddings import EmbeddingUnavailable, get_embedder


def exact_tops(transcript: Transcript, answered: Sequence[Answered]) -> list[tuple[str, ...]]:
    """Return for each answer the turn ids that exact cosine puts on top, best first.

    Nothing of the server's ranking is used but its choice among equals (`score.closest_top`).
    Raises ReplayError when there is no embedding model here.
    """
    turns = transcript.turns
    cosines = _cosines([one.question.text for one in answered], [turn.message for turn in turns])
    return [
        tuple(turns[at].id for at in score.closest_top(row.tolist(), _returned(one, turns)))
        for row, one in zip(cosines, answered, strict=True)
    ]


def _returned(answer: Answered, turns: Sequence[Turn]) -> set[int]:
    ids = {hit.turn_id for hit in answer.hits}
    return {at for at, turn in enumerate(turns) if turn.id in ids}


def _cosines(questions: Sequence[str], messages: Sequence[str]) -> NDArray[np.float32]:
    """Shape (questions, messages)."""
    try:
        embedder = get_embedder()
        return embedder.embed(questions) @ embedder.embed(messages).T
    except (EmbeddingUnavailable, ImproperlyConfigured) as error:
        raise ReplayError(f"Exact cosine cannot be computed (--no-check leaves it out): {error}") from error
