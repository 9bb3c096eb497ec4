"""Contract row 8."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

FULL = {
    "agent_id": "regulatory",
    "conversation_id": "c1",
    "user_id": "alice",
    "summary": "Filed a Rule 37 exception for Mitchell Ranch 2H.",
    "key_decisions": ["file", {"when": "today"}],
    "entities_mentioned": {"wells": ["42-301-12345"]},
    "tools_called": "one",
}
NEEDED = {name: FULL[name] for name in ("agent_id", "conversation_id", "summary")}


def test_what_is_stored_is_answered(acme):
    answer = acme.http.post("/episodic/store", json=FULL)
    assert answer.status_code == 200
    stored = answer.json()
    assert stored.items() >= FULL.items()
    assert UUID(stored["id"])
    age = datetime.now(UTC) - datetime.fromisoformat(stored["created_at"])
    assert abs(age.total_seconds()) < 60


def test_the_rest_is_optional(acme):
    stored = acme.http.post("/episodic/store/", json=NEEDED).json()
    assert [stored[name] for name in FULL if name not in NEEDED] == [None] * 4


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}, [None], {"a": [1, {"b": 2.5}]}, "text"])
def test_what_was_decided_mentioned_and_called_may_be_any_json(acme, value):
    lists = {"key_decisions": value, "entities_mentioned": value, "tools_called": value}
    acme.http.post("/episodic/store", json=NEEDED | lists)
    found = acme.http.get("/episodic/c1").json()["memories"][0]
    assert {name: found[name] for name in lists} == lists


@pytest.mark.parametrize("missing", sorted(NEEDED))
def test_what_is_needed_is_named_when_it_is_missing(acme, missing):
    body = {name: value for name, value in FULL.items() if name != missing}
    answer = acme.http.post("/episodic/store", json=body)
    assert answer.status_code == 422
    assert [problem["loc"] for problem in answer.json()["detail"]] == [["body", missing]]


@pytest.mark.parametrize("name", ["agent_id", "conversation_id", "user_id"])
def test_ids_may_have_100_characters(acme, name):
    longest = "é" * 100
    assert acme.http.post("/episodic/store", json=FULL | {name: longest}).json()[name] == longest
    assert acme.http.post("/episodic/store", json=FULL | {name: longest + "é"}).status_code == 422


def test_two_summaries_of_one_conversation_are_two_memories(acme):
    ids = {acme.http.post("/episodic/store", json=FULL).json()["id"] for _ in range(2)}
    assert len(ids) == acme.http.get("/episodic/c1").json()["total"] == 2


def test_user_and_namespace_of_the_query_count(acme):
    stored = acme.http.post("/episodic/store?user_id=bob&namespace=n", json=NEEDED).json()
    assert stored["user_id"] == "bob"
    assert acme.http.get("/episodic/c1?user_id=bob&namespace=n").json()["total"] == 1
    assert acme.http.get("/episodic/c1?namespace=other").json()["total"] == 0


def test_body_and_query_must_not_name_two_users(acme):
    assert acme.http.post("/episodic/store?user_id=bob", json=FULL).status_code == 422
    assert acme.http.get("/episodic/c1").json()["total"] == 0


def test_a_stored_memory_is_read_natively(acme):
    stored = acme.http.post("/episodic/store", json=FULL).json()
    (found,) = acme.http.get("/api/v1/episodes?user_id=alice").json()["results"]
    assert (found["id"], found["text"], found["embedded"]) == (stored["id"], FULL["summary"], True)
