import pytest

from recall.vague import expand, is_vague
from working.types import Turn


@pytest.mark.parametrize("query", [
    "continue", "Continue.", "go on", "Please go on!", "and then?", "yes", "Yes, please.", "ok", "okay then",
    "more", "tell me more", "what else?", "next", "why?", "why not", "…", "👍", "", "   ", "do it",
    "keep going", "Let\u2019s continue", "same again", "what's next?", "and now?", "where were we?",
])  # fmt: skip
def test_what_says_nothing_by_itself_is_vague(query):
    assert is_vague(query)


@pytest.mark.parametrize("query", [
    "What did we decide last time?", "dog", "who am I?", "where do I live?", "continue with the invoice",
    "yes, book the night train", "What is my name?", "4411", "weiter", "你好", "why is the parcel late?",
    "go on " * 10,
])  # fmt: skip
def test_what_names_something_is_not(query):
    assert not is_vague(query)


def test_the_last_turns_of_the_user_that_said_something_stand_in():
    turns = [
        Turn(1, "user", "My parcel is late."), Turn(2, "assistant", "Which one?"),
        Turn(3, "user", "Order 4411."),
        Turn(4, "user", "go on"), Turn(5, "user", "It is " + "very " * 200 + "late."), Turn(6, "user", "yes"),
        Turn(7, "user", None), Turn(8, "user", [{"type": "image"}]),
    ]  # fmt: skip
    first, second, query = expand("continue", turns).split("\n")
    assert (first, query) == ("Order 4411.", "continue")
    assert second.startswith("It is very")
    assert len(second) == 500


def test_without_turns_the_query_remains():
    assert expand("continue", []) == "continue"
