from hypothesis import given
from hypothesis import strategies as st

from providers.local.batches import TOKENS_PER_BATCH, pad, plan_batches

lengths_of_texts = st.lists(st.integers(2, 256), max_size=200)


@given(lengths_of_texts)
def test_every_text_is_in_exactly_one_batch(lengths: list[int]) -> None:
    planned = [row for rows in plan_batches(lengths) for row in rows]
    assert sorted(planned) == list(range(len(lengths)))


@given(lengths_of_texts)
def test_no_batch_exceeds_the_budget_padding_included(lengths: list[int]) -> None:
    for rows in plan_batches(lengths):
        assert len(rows) * max(lengths[row] for row in rows) <= TOKENS_PER_BATCH


def test_a_text_above_the_budget_runs_alone() -> None:
    assert list(plan_batches([10, 2_000, 20])) == [[1], [2, 0]]


def test_short_texts_do_not_wait_beside_a_long_one() -> None:
    assert list(plan_batches([5, 256, 5, 256, 5])) == [[1, 3], [0, 2, 4]]


def test_padding_is_marked_in_the_mask() -> None:
    token_ids, mask = pad([[101, 7, 102], [101, 102]])
    assert token_ids.tolist() == [[101, 7, 102], [101, 102, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0]]
