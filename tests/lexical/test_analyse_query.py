import pytest
from hypothesis import given

from lexical.analysis import analyse, analyse_query
from tests.lexical.test_analyse import TEXTS


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("pool-size", (("pool", "size"),)),
        ("the pool size", (("the",), ("pool",), ("size",))),
        ("C++", (("c",),)),
        ("decisions/db_pools ?", (("decis", "db", "pool"),)),
        ("東京都 2024", (("東京", "京都"), ("2024",))),
        ("a\u3000b\u00a0c\nd", (("a",), ("b",), ("c",), ("d",))),
        ("? ! \0 \ud800 😀", ()),
        ("", ()),
    ],
)
def test_each_word_between_white_space_is_a_phrase(text, phrases):
    assert analyse_query(text) == phrases


@given(TEXTS)
def test_a_query_asks_for_what_its_text_would_be_stored_as(text):
    phrases = analyse_query(text)
    assert all(phrases)
    assert [lexeme for phrase in phrases for lexeme in phrase] == analyse(text)
