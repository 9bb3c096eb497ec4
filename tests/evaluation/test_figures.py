import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryproject.evaluation.figures import DEPTH, NAMES, Outcome, find_ranks, means, scores

ranks = st.lists(st.none() | st.integers(1, DEPTH), min_size=1, max_size=6).map(tuple)


def of(*ranks: int | None) -> dict[str, float]:
    return dict(zip(NAMES, scores(Outcome("c", 1, ranks)), strict=True))


def test_ranks_count_from_one_and_end_at_the_depth():
    ranking = ["a", "b", *map(str, range(DEPTH))]
    assert find_ranks(("b", "a", "gone", str(DEPTH - 3), str(DEPTH - 2)), ranking) == (
        2,
        1,
        None,
        DEPTH,
        None,
    )


def test_recall_is_the_share_of_the_evidence_among_the_first():
    found = of(1, 5, 11, None)
    assert [found[f"recall@{k}"] for k in (1, 5, 10, 20)] == [0.25, 0.5, 0.5, 0.75]


@pytest.mark.parametrize(("ranks", "hit"), [((10, None), 1.0), ((11, None), 0.0), ((None,), 0.0)])
def test_a_hit_is_any_evidence_among_the_first_ten(ranks, hit):
    assert of(*ranks)["hit@10"] == hit


@pytest.mark.parametrize(("ranks", "mrr"), [((4, 2, None), 0.5), ((DEPTH,), 1 / DEPTH), ((None,), 0.0)])
def test_the_reciprocal_rank_is_that_of_the_first_evidence(ranks, mrr):
    assert of(*ranks)["mrr"] == mrr


@given(ranks)
def test_recall_never_falls_with_k_and_everything_is_a_share(ranks):
    found = of(*ranks)
    recalls = [found[f"recall@{k}"] for k in (1, 5, 10, 20)]
    assert recalls == sorted(recalls)
    assert all(0 <= one <= 1 for one in found.values())


def test_every_question_counts_the_same_however_much_evidence_it_has():
    found = means([Outcome("a", 1, (1,)), Outcome("b", 1, (None, None, None))])
    assert found["recall@10"] == 0.5
