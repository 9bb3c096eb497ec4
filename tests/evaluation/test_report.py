from memoryproject.evaluation.figures import NAMES, Outcome
from memoryproject.evaluation.report import assess

OUTCOMES = [
    Outcome("a", 1, (1,)),
    Outcome("a", 4, (None,)),
    Outcome("b", None, (2, 30)),
    Outcome("b", 5, (1,)),  # cannot be answered
    Outcome("b", 2, ()),  # nothing to find
]


def test_the_overall_figures_leave_out_what_cannot_be_answered():
    found = assess(OUTCOMES, resamples=100)
    assert found is not None
    assert found["questions"] == 3
    assert (found["recall@1"], found["mrr"]) == (0.3333, 0.5)


def test_the_object_has_the_fields_that_were_promised():
    found = assess(OUTCOMES, resamples=100)
    assert found is not None
    assert set(found) == {*NAMES, "by_category", "ci95", "questions"}
    assert set(found["ci95"]) == set(NAMES)
    assert all(low <= found[name] <= high for name, (low, high) in found["ci95"].items())


def test_categories_stand_each_for_itself_also_the_one_left_out():
    found = assess(OUTCOMES, resamples=100)
    assert found is not None
    assert {name: one["recall@10"] for name, one in found["by_category"].items()} == {"1": 1, "4": 0, "5": 1}
    assert set(found["by_category"]["1"]) == {*NAMES, "questions"}


def test_a_single_conversation_has_no_interval():
    found = assess(OUTCOMES[:2], resamples=100)
    assert found is not None
    assert found["ci95"] == {}


def test_nothing_to_find_gives_no_figures():
    assert assess(OUTCOMES[3:], resamples=100) is None
