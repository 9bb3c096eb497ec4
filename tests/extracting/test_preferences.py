"""Nothing but what users like, prefer and wish."""

import json

from tests.extracting.talk import OSLO, VIM, extract, put, records, shown, talk, texts

PREFERENCES = {"strategy": "preferences", "config": {}}


def test_rules_find_tastes_and_wishes_alone(caller):
    said = (OSLO, VIM, "We booked the ferry to Bergen.", "Please never use emojis.", "I'm vegan.")
    put(caller, *talk(*said), strategy=PREFERENCES)
    extract(caller)
    assert texts(caller) == {
        "User's preferred editor: vim",
        "User wishes: do not use emojis",
        "User's diet: vegan",
    }
    assert {one.memory_type for one in records(caller)} == {"semantic"}
    assert {one.extraction["strategy"] for one in records(caller)} == {"preferences"}


def test_the_model_s_are_statements_that_hold(caller, llm):
    found = {"text": "User likes vim.", "topics": ["editors"], "entities": ["vim"], "messages": [1]}
    llm.control(says=json.dumps({"memories": [found]}))
    put(caller, *talk(VIM), strategy=PREFERENCES)
    extract(caller)
    (one,) = records(caller)
    assert (one.text, one.memory_type, one.event_date) == ("User likes vim.", "semantic", None)
    assert one.metadata["prompt"] == "extract_preferences.v1"
    assert "memory_type" not in shown(llm)
