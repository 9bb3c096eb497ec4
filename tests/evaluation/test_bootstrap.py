import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoryproject.evaluation.bootstrap import intervals

rows = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def clusters(*values: list[float]) -> list[np.ndarray]:
    return [np.array(some)[:, np.newaxis] for some in values]


def interval(*values: list[float], **options: int) -> list[float]:
    found = intervals(clusters(*values), **{"resamples": 2_000, **options})
    assert found is not None
    return found[:, 0].tolist()


def test_conversations_are_drawn_and_not_questions():
    """Drawn by the question, two hundred of them would leave an interval of 0.43 to 0.57."""
    assert interval([0.0] * 100, [1.0] * 100) == [0.0, 1.0]


def test_conversations_that_are_alike_leave_no_doubt():
    assert interval([0.0, 1.0], [1.0, 0.0], [0.0, 1.0]) == [0.5, 0.5]


def test_a_conversation_counts_by_its_questions():
    low, high = interval([1.0] * 9, [0.0])
    draws = np.array([0.0, 0.9, 0.9, 1.0])  # the four ways to draw two of two, all as likely
    assert (low, high) == (draws.min(), draws.max())
    assert interval([1.0] * 9, [0.0], resamples=100_000) == [low, high]


def test_one_conversation_tells_nothing_of_others():
    assert intervals(clusters([0.0, 1.0]), resamples=100) is None


def test_the_same_draw_is_made_each_time_unless_another_seed_is_given():
    some = [[0.1, 0.4], [0.9], [0.3, 0.3, 0.2], [0.7]]
    assert interval(*some) == interval(*some)
    assert interval(*some, seed=2, resamples=100) != interval(*some, seed=3, resamples=100)


@given(st.lists(rows, min_size=2, max_size=4))
def test_an_interval_lies_between_the_worst_and_the_best_conversation(values):
    low, high = interval(*values, resamples=100)
    means = [float(np.mean(some)) for some in values]
    assert min(means) - 1e-9 <= low <= high <= max(means) + 1e-9
