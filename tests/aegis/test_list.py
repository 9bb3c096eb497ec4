"""Contract row 11."""

import pytest


@pytest.fixture
def three(acme):
    for number in range(3):
        body = {"agent_id": "a", "conversation_id": "c", "summary": f"part {number}", "user_id": f"u{number}"}
        acme.http.post("/episodic/store", json=body)
    acme.http.post("/episodic/store", json={"agent_id": "a", "conversation_id": "d", "summary": "another"})


def test_the_oldest_memory_comes_first(acme, three):
    found = acme.http.get("/episodic/c").json()
    assert found.keys() == {"conversation_id", "memories", "total"}
    assert (found["conversation_id"], found["total"]) == ("c", 3)
    assert [one["summary"] for one in found["memories"]] == ["part 0", "part 1", "part 2"]


def test_a_memory_has_everything_that_was_stored(acme, three):
    assert acme.http.get("/episodic/d/").json()["memories"][0].keys() == {
        "id", "agent_id", "user_id", "conversation_id", "summary", "key_decisions", "entities_mentioned",
        "tools_called", "created_at",
    }  # fmt: skip


def test_the_query_narrows_to_a_user(acme, three):
    found = acme.http.get("/episodic/c?user_id=u1").json()
    assert [one["summary"] for one in found["memories"]] == ["part 1"]


def test_an_unknown_conversation_has_none(acme, three):
    answer = acme.http.get("/episodic/nobody")
    assert (answer.status_code, answer.json()) == (
        200,
        {"conversation_id": "nobody", "memories": [], "total": 0},
    )


def test_globex_sees_none_of_acme(three, globex):
    assert globex.http.get("/episodic/c").json()["memories"] == []


@pytest.mark.parametrize("name", ["store", "search"])
def test_a_conversation_may_be_named_like_a_route(acme, name):
    acme.http.post("/episodic/store", json={"agent_id": "a", "conversation_id": name, "summary": "odd name"})
    assert acme.http.get(f"/episodic/{name}").json()["total"] == 1
