import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryproject.replay.score import (
    TIE,
    TOP_K,
    Outcome,
    closest_top,
    compare,
    evidence_recall,
    figures,
    figures_by_category,
    reciprocal_rank,
)

TEN = tuple("abcdefghij")
ids = st.sampled_from("abcdefghijklmnop")
evidences = st.lists(ids, min_size=1, max_size=5, unique=True)
rankings = st.lists(ids, max_size=14, unique=True)
# Few distinct values, so that ties are common.
scores = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.3 + TIE / 10, 0.4]), max_size=30)


def test_recall_is_the_share_of_the_evidence_among_the_first_ten():
    assert evidence_recall(("a", "z"), TEN) == 0.5
    assert evidence_recall(("z",), (*TEN, "z")) == 0.0


def test_reciprocal_rank_looks_at_the_first_evidence():
    assert reciprocal_rank(("z", "d", "b"), TEN) == 0.5
    assert reciprocal_rank(("z",), TEN) == 0.0


@given(evidences, rankings)
def test_figures_of_one_question_lie_between_0_and_1_and_agree(evidence, ranking):
    recall, rank = evidence_recall(evidence, ranking), reciprocal_rank(evidence, ranking)
    assert 0 <= recall <= 1
    assert (recall > 0) == (rank > 0)


@given(evidences, rankings)
def test_the_order_of_the_first_ten_does_not_change_recall(evidence, ranking):
    turned = [*reversed(ranking[:TOP_K]), *ranking[TOP_K:]]
    assert evidence_recall(evidence, turned) == evidence_recall(evidence, ranking)


def test_means_leave_out_questions_without_evidence():
    found = figures([Outcome(("a",), TEN), Outcome(("z",), TEN), Outcome((), TEN)])
    assert found is not None
    assert (found.questions, found.recall, found.hit, found.mrr) == (2, 0.5, 0.5, 0.5)
    assert found.exact_recall is None


def test_there_are_no_figures_without_evidence():
    assert figures([Outcome((), TEN)]) is None
    assert figures_by_category([Outcome((), TEN, category=2)]) == {}


def test_categories_are_counted_each_for_itself():
    found = figures_by_category([Outcome(("a",), TEN, category=5), Outcome(("z",), TEN, category=1)])
    assert [(category, one.recall) for category, one in found.items()] == [(1, 0.0), (5, 1.0)]


def test_equal_means_do_not_hide_unequal_questions():
    lost, gained = Outcome(("a",), ("b",), exact=("a",)), Outcome(("a",), ("a",), exact=("b",))
    both = figures([lost, gained])
    assert both is not None
    assert both.recall == both.exact_recall
    assert compare([lost, gained]).unequal == (0, 1)


def test_other_memories_with_as_much_evidence_are_equal_but_noted():
    found = compare([Outcome(("a",), ("a", None), exact=("a", "b")), Outcome(("a",), ("a",), exact=("a",))])
    assert found.equal
    assert found.otherwise == (0,)


def test_the_order_among_the_first_ten_is_no_difference():
    found = compare([Outcome(("a",), tuple(reversed(TEN)), exact=TEN)])
    assert found.equal
    assert not found.otherwise


@given(scores, st.sets(st.integers(0, 29)))
def test_the_exact_top_never_leaves_out_what_is_clearly_better(values, preferred):
    top = closest_top(values, preferred)
    left = [values[at] for at in range(len(values)) if at not in top]
    assert len(top) == len(set(top)) == min(TOP_K, len(values))
    assert not left or min(values[at] for at in top) >= max(left) - TIE


@given(scores, st.randoms())
def test_every_way_to_break_ties_is_a_correct_top(values, random):
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    returned = set(sorted(shuffled, key=lambda at: -values[at])[:TOP_K])
    assert set(closest_top(values, returned)) == returned


@given(scores)
def test_a_ranking_that_left_out_a_better_memory_is_never_matched(values):
    worst_first = sorted(range(len(values)), key=lambda at: values[at])
    wrong = set(worst_first[:TOP_K])
    left = [values[at] for at in worst_first[TOP_K:]]
    clearly_wrong = bool(left) and max(left) > min(values[at] for at in wrong) + 3 * TIE
    assert not clearly_wrong or set(closest_top(values, wrong)) != wrong


def test_ties_that_nobody_chose_are_broken_by_the_order_of_the_conversation():
    assert closest_top([0.5] * 12, set()) == list(range(10))


@pytest.mark.parametrize("count", [0, 1, 10])
def test_everything_is_on_top_when_there_is_little(count):
    assert sorted(closest_top([0.5] * count, set())) == list(range(count))
