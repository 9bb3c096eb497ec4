"""Saved queries: what the default ranking finds in the bundled case must not get worse unnoticed.

The marks are what was measured, less the last digits. Whoever raises the figures may raise them.
"""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from memoryproject.evaluation.evaluating import Evaluated, evaluate
from memoryproject.replay import files

MARKS = {"recall@5": 0.8, "recall@10": 0.9, "recall@20": 0.95, "hit@10": 0.95, "mrr": 0.64}


@pytest.fixture(scope="module")
def found(_database) -> Evaluated:
    return evaluate(
        [files.load(files.BUNDLED)],
        profiles=["similarity", "hybrid"],
        fit=False,
        resamples=100,
        progress=lambda unit, total: nullcontext(SimpleNamespace(update=lambda count: None)),
    )


@pytest.mark.parametrize("name", MARKS)
def test_hybrid_keeps_to_its_marks(found, name):
    assert found.profiles["hybrid"][name] >= MARKS[name]


def test_every_question_is_asked(found):
    assert found.profiles["hybrid"]["questions"] == 20


def test_hybrid_finds_more_than_likeness_alone(found):
    assert found.profiles["hybrid"]["recall@10"] > found.profiles["similarity"]["recall@10"]
