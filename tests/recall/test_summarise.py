import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.summary import LONGEST_QUOTE, summarise


def test_the_wording_is_the_seeds():
    assert summarise(messages=2, first="a", last="b") == 'Session with 2 messages. Started: "a" — Ended: "b"'


@pytest.mark.parametrize(("first", "last"), [(None, None), (None, "b"), ("a", None)])
def test_without_words_of_a_user_only_the_count_is_told(first, last):
    assert summarise(messages=3, first=first, last=last) == "Session with 3 messages."


def test_one_message_is_no_plural_where_the_dialect_does_not_ask_for_it():
    assert summarise(messages=1, first=None, last=None, inflected=True) == "Session with 1 message."
    assert summarise(messages=2, first=None, last=None, inflected=True) == "Session with 2 messages."


def test_empty_words_are_words():
    assert summarise(messages=1, first="", last="") == 'Session with 1 messages. Started: "" — Ended: ""'


@given(st.text(max_size=500), st.text(max_size=500))
def test_quotes_are_cut_and_otherwise_kept_to_the_letter(first, last):
    summary = summarise(messages=1, first=first, last=last)
    assert summary == (
        f'Session with 1 messages. Started: "{first[:LONGEST_QUOTE]}" — Ended: "{last[:LONGEST_QUOTE]}"'
    )
