import pytest

from lexical.analysis import analyse, is_stop_word
from lexical.stop_words import STOP_WORDS


def test_what_a_question_is_made_of_is_left_out_and_what_it_asks_for_stays():
    question = analyse("How do I set the pool size for REST, and why doesn't it's default (10) apply to us?")
    asked_for = [lexeme for lexeme in question if not is_stop_word(lexeme)]
    assert asked_for == ["set", "pool", "size", "rest", "default", "10", "appli"]


@pytest.mark.parametrize("word", ["because", "during", "every", "very", "does", "having", "ANY", "Whatever"])
def test_stop_words_are_known_by_their_stem(word):
    assert [is_stop_word(lexeme) for lexeme in analyse(word)] == [True]


@pytest.mark.parametrize(
    "words",
    [
        "exception exceptions mining evening needs like won one own down time way new use go rest data",
        "hash wish theme c 1 東京",
    ],
)
def test_words_that_name_something_are_none(words):
    assert not any(is_stop_word(lexeme) for lexeme in analyse(words))


def test_each_is_one_plain_word():
    assert [word for word in STOP_WORDS if len(analyse(word)) != 1] == []
