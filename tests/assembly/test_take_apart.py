"""A running summary in its parts, as it was run together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.summary import Part, run_together, take_apart

PLAIN = st.text(alphabet='ab :\n"[]', min_size=1, max_size=30).filter(lambda one: not one.endswith("\n"))


@given(st.lists(PLAIN, min_size=2, max_size=5))
def test_what_was_run_together_comes_apart_again(texts):
    parts = [Part((10 * n + 1, 10 * n + 10), text) for n, text in enumerate(texts)]
    assert take_apart(run_together(parts)) == parts


def test_of_one_that_lost_its_oldest_parts_the_others_remain():
    parts = [Part((n, n), "word " * 40) for n in range(1, 9)]
    found = take_apart(run_together(parts, longest=700))
    assert found == [Part(one.covers, one.text) for one in parts[-3:]]


@pytest.mark.parametrize("running", [
    "", "Session with 2 messages.", 'He said: "x\nTurns 1 to 2: y"', "Turns 1 to two: x", "[3 earlier",
])  # fmt: skip
def test_a_single_part_does_not_say_what_it_tells_of(running):
    assert take_apart(running) == []
