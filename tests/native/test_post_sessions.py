import pytest

from tests.native.shapes import problem

FIELDS = {
    "session_id", "namespace", "user_id", "agent_id", "project", "metadata", "turn_count", "summary",
    "started_at", "last_activity_at", "ended_at",
}  # fmt: skip


def test_a_session_is_created_with_what_is_named(acme):
    body = {
        "session_id": "s1", "user_id": "u1", "agent_id": "ada", "project": "apollo", "namespace": "n",
        "metadata": {"channel": "web", "nested": [1, None]},
    }  # fmt: skip
    answer = acme.http.post("/api/v1/sessions", json=body)
    assert answer.status_code == 201
    session = answer.json()
    assert session.keys() == FIELDS
    assert body.items() <= session.items()
    assert (session["turn_count"], session["summary"], session["ended_at"]) == (0, None, None)
    assert session["started_at"].endswith("Z")


def test_creating_it_again_answers_the_same_session(acme):
    first = acme.http.post("/api/v1/sessions", json={"session_id": "s1", "metadata": {"a": 1}})
    again = acme.http.post("/api/v1/sessions", json={"session_id": "s1", "metadata": {"a": 2}})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["started_at"] == first.json()["started_at"]
    assert again.json()["metadata"] == {"a": 1}


@pytest.mark.parametrize("body", [None, {}])
def test_without_an_id_the_server_mints_one(acme, body):
    ids = {acme.http.post("/api/v1/sessions", json=body).json()["session_id"] for _ in range(2)}
    assert len(ids) == 2
    assert all(ids)


def test_agent_and_project_can_be_named_later(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "s1"})
    later = acme.http.post(
        "/api/v1/sessions", json={"session_id": "s1", "agent_id": "ada", "project": "p"}
    ).json()
    assert (later["agent_id"], later["project"]) == ("ada", "p")
    kept = acme.http.post("/api/v1/sessions", json={"session_id": "s1", "agent_id": "bob"}).json()
    assert kept["agent_id"] == "ada"


def test_user_and_namespace_may_stand_in_the_query(acme):
    acme.http.post("/api/v1/sessions?user_id=u1&namespace=n", json={"session_id": "s1"})
    found = acme.http.get("/api/v1/sessions/s1?user_id=u1&namespace=n").json()
    assert (found["user_id"], found["namespace"]) == ("u1", "n")


@pytest.mark.parametrize(("body", "field"), [
    ({"session": "s1"}, "session"),
    ({"session_id": ""}, "session_id"),
    ({"session_id": 7}, "session_id"),
    ({"session_id": "x" * 256}, "session_id"),
    ({"session_id": "s", "metadata": []}, "metadata"),
    ({"session_id": "s", "project": "x" * 201}, "project"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, body, field):
    problem(acme.http.post("/api/v1/sessions", json=body), 422, field)


@pytest.mark.parametrize("body", ["[]", '"s"', "7", "{", "NaN", '{"session_id": "a\\u0000b"}'])
def test_a_body_that_is_no_object_is_refused(acme, body):
    problem(acme.http.post("/api/v1/sessions", content=body), 422)


def test_another_user_than_the_bound_one_is_refused(acme):
    bound = acme.with_key(user_id="u1").http
    problem(bound.post("/api/v1/sessions", json={"session_id": "s", "user_id": "u2"}), 403)
    assert bound.post("/api/v1/sessions", json={"session_id": "s"}).json()["user_id"] == "u1"


def test_a_read_only_key_may_not_create(acme):
    problem(acme.with_key(scopes=("read",)).http.post("/api/v1/sessions", json={}), 403)
