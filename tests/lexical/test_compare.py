"""Differences: nothing of either text is lost, and what stayed is not called new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexical import differences
from lexical.differences import Part, compare

TEXTS = st.text(alphabet="ab \n.é\r", max_size=60)


@given(TEXTS, TEXTS)
def test_the_parts_make_up_both_texts(before, after):
    parts = compare(before, after)
    assert "".join(one.text for one in parts if one.kind != "new") == before
    assert "".join(one.text for one in parts if one.kind != "gone") == after
    assert all(one.text for one in parts)


def test_words_are_compared_not_letters():
    assert compare("We use the blue cluster.", "We use the green cluster.") == [
        Part("same", "We use the "), Part("gone", "blue"), Part("new", "green"), Part("same", " cluster."),
    ]  # fmt: skip


@pytest.mark.parametrize("limit", ["MOST_WORDS", "MOST_LINES"])
def test_what_is_too_long_is_compared_more_coarsely(monkeypatch, limit):
    monkeypatch.setattr(differences, limit, 3)
    parts = compare("one\ntwo three four five\nsix\n", "one\ntwo three four FIVE\nsix\n")
    assert "".join(one.text for one in parts if one.kind != "gone") == "one\ntwo three four FIVE\nsix\n"
    assert Part("new", "FIVE") not in parts


def test_the_same_is_one_part():
    assert compare("a\nb", "a\nb") == [Part("same", "a\nb")]
    assert compare("", "") == []
