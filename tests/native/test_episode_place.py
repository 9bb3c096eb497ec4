"""Under which agent, project and type an episode stands, changed over REST."""

import pytest

from tests.native.shapes import problem
from tests.native.test_episode_changes import edit, history, read
from tests.native.test_episodes import store

PLACE = {"agent_id": "pilot", "project": "apollo", "memory_type": "semantic"}


def test_it_is_changed_and_leaves_no_revision(acme):
    stored = store(acme, "Kim prefers trains.", user_id="u1")
    answer = edit(acme, stored, PLACE)
    assert answer.status_code == 200, answer.text
    assert PLACE.items() <= answer.json().items()
    assert read(acme, stored).json()["version"] == stored["version"] + 1
    assert history(acme, stored)["results"] == []
    emptied = edit(acme, stored, {"agent_id": "", "project": ""}).json()
    assert (emptied["agent_id"], emptied["project"]) == (None, None)


@pytest.mark.parametrize(("change", "field"), [
    ({"memory_type": "message"}, "memory_type"), ({"memory_type": "dream"}, "memory_type"),
    ({"agent_id": "x" * 256}, "agent_id"), ({"project": "x" * 201}, "project"),
    ({"project": None}, "project"), ({"user_id": "bob"}, "user_id"),
])  # fmt: skip
def test_what_it_cannot_be_is_named(acme, change, field):
    stored = store(acme, "Kim prefers trains.", user_id="u1")
    answer = edit(acme, stored, change)
    assert problem(answer, 422)["errors"][0]["field"] == field


def test_a_bound_key_moves_nothing_out_of_its_reach(acme):
    bound = acme.with_key(agent_id="pilot")
    stored = store(bound, "Kim prefers trains.", user_id="u1")
    assert edit(bound, stored, {"agent_id": "other"}).status_code == 403
