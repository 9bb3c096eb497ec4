"""Contract row 17: errors as FastAPI answers them, and the health of the server."""

import httpx
import pytest


def test_what_is_not_valid_is_a_list_with_the_way_to_it(acme):
    answer = acme.http.post("/episodic/store", json={"agent_id": 7, "summary": ""})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/json"
    problems = answer.json()["detail"]
    assert sorted(problem["loc"] for problem in problems) == [
        ["body", "agent_id"],
        ["body", "conversation_id"],
        ["body", "summary"],
    ]
    assert all(isinstance(problem["msg"], str) and isinstance(problem["type"], str) for problem in problems)


def test_a_problem_deep_in_the_body_is_located(acme):
    answer = acme.http.request("DELETE", "/working-memory/c", json={"fields": ["a", 1]})
    assert answer.json()["detail"][0]["loc"] == ["body", "fields", 1]


def test_other_errors_are_a_sentence(acme):
    answers = [
        httpx.get(f"{acme.http.base_url}/working-memory/c"),
        acme.http.patch("/working-memory/c", json={}),
        acme.with_key(scopes=("read",)).http.put("/working-memory/c", json={"data": {}}),
    ]
    assert [answer.status_code for answer in answers] == [401, 405, 403]
    for answer in answers:
        assert answer.json().keys() == {"detail"}
        assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize("path", ["/health", "/health/"])
def test_health_needs_no_key(server, path):
    answer = httpx.get(server + path)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@pytest.mark.parametrize("path", ["/ready", "/ready/"])
def test_ready_needs_no_key_and_says_what_it_looked_at(server, path):
    answer = httpx.get(server + path)
    assert answer.status_code == 200
    assert answer.json()["status"] in ("ok", "degraded")
    assert answer.json()["checks"].keys() == {"database", "migrations", "model", "redis", "worker"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/working-memory/c", {"data": {}}),
        ("GET", "/working-memory/c", None),
        ("DELETE", "/working-memory/c", None),
        ("POST", "/episodic/store", {"agent_id": "a", "conversation_id": "c", "summary": "s"}),
        ("POST", "/episodic/search", {"agent_id": "a", "query": "q"}),
        ("GET", "/episodic/c", None),
        ("GET", "/ledger/c", None),
        ("DELETE", "/ledger/c", None),
        *(("POST", f"/ledger/c/{verb}", {"item_key": "k"}) for verb in ("check", "mark", "claim", "evict")),
    ],
)
def test_every_route_answers_with_and_without_trailing_slash(acme, method, path, body):
    plain, slashed = (acme.http.request(method, path + end, json=body) for end in ("", "/"))
    assert plain.status_code == slashed.status_code == 200
    assert not plain.history + slashed.history
    assert plain.json().keys() == slashed.json().keys()
