from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from episodic.models import Episode
from memoryproject.evaluation import stage as staging
from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.figures import DEPTH
from memoryproject.evaluation.stage import Staged, ask, pools, stage
from memoryproject.evaluation.tenant import throwaway_tenant
from memoryproject.evaluation.tuning import rank
from memoryproject.replay import files
from providers.embeddings import EmbeddingUnavailable, get_embedder
from recall.ranking.weights import default_weights
from tenants.caller import Caller
from tenants.scope import scope


def nothing(count: int) -> None:
    pass


@pytest.fixture(scope="module")
def caller(_database) -> Iterator[Caller]:
    with throwaway_tenant() as caller:
        yield caller


@pytest.fixture(scope="module")
def staged(caller, folder) -> list[Staged]:
    """The bundled case, and two small conversations."""
    paths = [files.BUNDLED, folder / "trip.json", folder / "work.json"]
    return stage(caller, [files.load(path) for path in paths], nothing)


def test_turns_are_verbatim_memories_with_their_places(caller, staged):
    with scope(caller.tenant_id):
        stored = {one.id: one for one in Episode.objects.filter(user_id=staged[0].user_id)}
    turns = {turn.id: (session, turn) for session in bundled().sessions for turn in session.turns}
    assert len(stored) == len(turns)
    for episode_id, turn_id in staged[0].turns.items():
        (session, turn), one = turns[turn_id], stored[episode_id]
        assert (one.text, one.session, one.memory_type) == (turn.message, session.id, "message")
        assert (one.created_at, one.event_date) == (turn.at, turn.at)
        place = session.turns.index(turn) + 1
        assert one.covers_turns == [place, place]


def bundled():
    return files.load(files.BUNDLED)


def test_questions_without_evidence_are_not_asked(staged):
    assert [len(one.questions) for one in staged] == [20, 3, 1]


def test_questions_are_asked_after_the_last_turn(staged):
    assert staged[0].asked_at - max(turn.at for turn in bundled().turns) == timedelta(days=1)


def test_a_conversation_is_asked_about_itself_alone(caller, staged):
    """The small ones have turns of the same ids, and fewer than are asked for."""
    for one in staged[1:]:
        for ranking in ask(caller, one, "similarity", nothing):
            assert sorted(ranking) == ["D1:1", "D1:2", "D1:3", "D1:4"]


def test_similarity_is_the_order_by_exact_cosine(caller, staged):
    turns = bundled().turns
    cosines = staged[0].vectors @ get_embedder().embed([turn.message for turn in turns]).T
    for ranking, row in zip(ask(caller, staged[0], "similarity", nothing), cosines, strict=True):
        order = np.argsort(-row)[:DEPTH]
        by_turn = {turn.id: float(cosine) for turn, cosine in zip(turns, row, strict=True)}
        assert [by_turn[one] for one in ranking] == pytest.approx(row[order].tolist(), abs=1e-5)


def test_the_candidates_by_the_default_weights_are_what_hybrid_answers(caller, staged):
    """So what weights are fitted on is what they rank later."""
    rankings = ask(caller, staged[0], "hybrid", nothing)
    for pool, ranking in zip(pools(caller, staged[0], nothing), rankings, strict=True):
        assert rank(pool, default_weights())[:DEPTH] == ranking


def test_progress_counts_turns_and_questions(caller, folder, staged):
    counted: list[int] = []
    stage(caller, [files.load(folder / "work.json")], counted.append)
    assert sum(counted) == 4
    counted.clear()
    list(ask(caller, staged[1], "similarity", counted.append))
    assert counted == [1, 1, 1]


def test_without_the_embedding_model_nothing_is_measured(caller, folder, monkeypatch):
    def away(*args: object, **kwargs: object) -> None:
        raise EmbeddingUnavailable("away")

    monkeypatch.setattr(get_embedder(), "embed", away)
    with pytest.raises(EvaluationError, match="model is away"):
        stage(caller, [files.load(folder / "work.json")], nothing)


def test_a_stage_that_was_left_out_spoils_the_figures(caller, staged, monkeypatch):
    from recall.recall import recall
    from recall.stages import Stage

    def hurried(**asked):
        from dataclasses import replace

        return replace(recall(**asked), stages=(Stage("words", 0.0, "failed"),))

    monkeypatch.setattr(staging, "recall", hurried)
    with pytest.raises(EvaluationError, match="without words"):
        list(ask(caller, staged[1], "similarity", nothing))
