import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from memoryproject.evaluation.tuning import Pool, fit, leave_one_out, rank
from memoryproject.evaluation.weights_file import weights_by_hand, weights_document
from recall.ranking.signals import SIGNALS
from recall.ranking.weights import DEFAULT, Weights

WORDS, MEANING = SIGNALS.index("words"), SIGNALS.index("meaning")


def pool(telling: int, *, seed: int, category: int = 4, size: int = 12) -> Pool:
    """Noise, but for one signal, which is highest where the evidence is."""
    generator = np.random.default_rng(seed)
    signals = generator.random((size, len(SIGNALS)))
    signals[:, telling] = generator.random(size) / 2
    evidence = int(generator.integers(size))
    signals[evidence, telling] = 1
    return Pool((f"t{evidence}",), category, tuple(f"t{at}" for at in range(size)), signals)


def pools(telling: int, *, seed: int = 0, **options: int) -> list[Pool]:
    return [pool(telling, seed=seed + number, **options) for number in range(20)]


def test_the_weights_put_evidence_on_top():
    weights = fit(pools(WORDS))
    assert int(np.argmax(weights.values)) == WORDS
    assert all(rank(one, weights)[0] in one.evidence for one in pools(WORDS, seed=100))


def test_weights_by_hand_stay_as_they_are():
    assert weights_by_hand(), "the default file has none, so nothing is tested"
    found = dict(zip(SIGNALS, fit(pools(SIGNALS.index("recency"))).values.tolist(), strict=True))
    assert {name: found[name] for name in weights_by_hand()} == weights_by_hand()


def test_signals_that_are_weighed_by_hand_teach_nothing():
    given_away = [replace(one, signals=one.signals.copy()) for one in pools(WORDS)]
    for one in given_away:
        one.signals[:, SIGNALS.index("recency")] = np.isin(one.turns, one.evidence)
    assert fit(given_away).values.tolist() == fit(pools(WORDS)).values.tolist()


def test_questions_that_cannot_be_answered_teach_nothing():
    with pytest.raises(ValueError, match="relevant"):
        fit(pools(WORDS, category=5))


def test_a_conversation_does_not_teach_what_it_is_asked():
    """Two of three tell by words, one by meaning: left out, it is asked with the weights of the two."""
    by_name = {"a": pools(WORDS), "b": pools(WORDS, seed=50), "c": pools(MEANING, seed=99)}
    found = dict(leave_one_out(by_name))
    others = [*by_name["a"], *by_name["b"]]
    weights = fit(others)
    assert found["c"] == [rank(one, weights) for one in by_name["c"]]
    assert found["c"] != [rank(one, fit([*others, *by_name["c"]])) for one in by_name["c"]]


def test_equal_scores_keep_their_order():
    one = Pool(("t1",), 4, ("t0", "t1", "t2"), np.zeros((3, len(SIGNALS))))
    assert rank(one, fit(pools(WORDS))) == ("t0", "t1", "t2")


def test_the_document_is_read_back_as_the_same_weights(tmp_path):
    weights = fit(pools(WORDS))
    document = weights_document(
        weights, tuned=None, conversations=1, questions=20, each=50, model="m", on=date(2024, 1, 2)
    )
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(document))
    assert Weights.read(path).values == pytest.approx(weights.values, abs=0.001)


def test_the_document_has_what_the_default_file_has():
    default = json.loads(DEFAULT.read_text())
    document = weights_document(
        Weights.read(DEFAULT),
        tuned=None,
        conversations=1,
        questions=2,
        each=50,
        model="m",
        on=date(2024, 1, 2),
    )
    assert {name: document[name] for name in ("version", "l2", "weights", "set")} == {
        name: default[name] for name in ("version", "l2", "weights", "set")
    }
    assert set(default) <= set(document)
