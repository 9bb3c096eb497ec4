"""A query that says nothing by itself is looked for with what was said last in its session."""

import pytest
from django.utils import timezone

from episodic.types import EpisodeFilter
from recall.expansion import text_searched_for
from recall.kinds import recall_kinds
from recall.types import RecallQuery
from tests.recall.test_hybrid import say
from tests.working.conversation import append, turn
from working.types import SessionAddress

S = SessionAddress("s", "u1")


def searched(caller, text, session_id=S.session_id, user_id="u1"):
    query = RecallQuery(text, EpisodeFilter(user_id=user_id, session_id=session_id))
    return text_searched_for(caller=caller, query=query, now=timezone.now())


@pytest.fixture
def talk(caller):
    append(
        caller, turn("user", "My boat leaks near the rudder."), turn("assistant", "Where exactly?"),
        turn("user", "ok"), address=S,
    )  # fmt: skip
    return caller


@pytest.mark.parametrize("query", ["continue", "go on", "and then?", "👍"])
def test_the_user_s_last_turns_that_said_something_come_before_it(talk, query):
    assert searched(talk, query) == f"My boat leaks near the rudder.\n{query}"


def test_what_names_something_stays_as_it_is(talk):
    assert searched(talk, "Where is the boat?") == "Where is the boat?"


def test_without_a_session_or_one_that_is_known_the_query_remains(talk, globex):
    assert searched(talk, "continue", session_id=None) == "continue"
    assert searched(talk, "continue", session_id="another") == "continue"
    assert searched(globex.caller, "continue") == "continue"


def test_what_is_sensitive_is_not_searched_for(caller):
    append(caller, turn("user", "My password is hunter2hunter2, and my boat leaks."), address=S)
    assert "hunter2" not in searched(caller, "continue")
    assert "boat" in searched(caller, "continue")


def test_the_answer_tells_what_was_searched_for_and_finds_it(talk):
    for place, text in enumerate(["Ana: The tomatoes are ripe.", "Ana: A boat with a leak sinks."], 1):
        say(talk, text, session=S.session_id, first=place)
    query = RecallQuery("go on", EpisodeFilter(user_id="u1", session_id=S.session_id), 1)
    found = recall_kinds(caller=talk, query=query, kinds=("episode",), now=timezone.now())
    assert found.query_used == "My boat leaks near the rudder.\ngo on"
    assert found.results[0].episode.text == "Ana: A boat with a leak sinks."
