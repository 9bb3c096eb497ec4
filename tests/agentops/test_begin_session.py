"""`POST /sessions`"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agentops.shapes import get, refused
from tests.api.call import quoted


def begin(member, **body):
    return member.http.post("/sessions", json={"id": "s1", "project": "orders"} | body)


def test_a_session_is_created(acme):
    answer = begin(acme)
    assert answer.status_code == 201
    session = answer.json()
    assert list(session) == ["id", "project", "started_at", "message_count"]
    assert (session["id"], session["project"], session["message_count"]) == ("s1", "orders", 0)


def test_its_project_is_told_in_lower_case(acme):
    assert begin(acme, project="  MyProj ").json()["project"] == "myproj"


def test_a_second_time_it_is_returned_as_it_is(acme):
    first = begin(acme).json()
    again = begin(acme, project="other")
    assert (again.status_code, again.json()) == (201, first)
    assert get(acme, "/sessions/recent", project="other") == []


def test_after_its_end_it_is_still_ended(acme):
    begin(acme)
    acme.http.post("/sessions/s1/end", json={})
    assert begin(acme).json()["ended_at"]


def test_many_at_once_begin_one(acme):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _n: begin(acme), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len(get(acme, "/sessions/recent", project="orders")) == 1


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "validation failed: id is required; project is required"),
        ({"id": "s"}, "validation failed: project is required"),
        ({"id": " ", "project": "p"}, "validation failed: id is required"),
        ({"id": "s", "project": "p" * 201}, "validation failed: project exceeds 200 chars"),
        ({"id": "s", "project": "é" * 101}, "validation failed: project exceeds 200 chars"),
        ({"id": "s" * 256, "project": "p"}, "validation failed: id exceeds 255 chars"),
    ],
)
def test_what_is_missing_or_too_long_is_told(acme, body, error):
    refused(acme.http.post("/sessions", json=body), 400, error)


@pytest.mark.parametrize(
    "session", ["a/b", "a/end", "end", "recent", "a/", "/", "ü 💡", "a%2Fb", "..", "a\nb", "?x=1"]
)
def test_any_text_is_an_id(acme, session):
    assert begin(acme, id=session).json()["id"] == session
    ended = acme.http.post(f"/sessions/{quoted(session)}/end", json={"messages": []})
    assert (ended.status_code, ended.json()["session_id"]) == (200, session)
    (listed,) = get(acme, "/sessions/recent", project="orders")
    assert listed["id"] == session
    assert "ended_at" in listed


def test_a_bound_key_needs_no_project_and_may_name_no_other(acme):
    bound = acme.with_key(project="Orders")
    assert bound.http.post("/sessions", json={"id": "mine"}).json()["project"] == "orders"
    assert bound.http.post("/sessions", json={"id": "mine", "project": "ORDERS"}).status_code == 201
    refused(bound.http.post("/sessions", json={"id": "x", "project": "other"}), 403)
    assert acme.http.get("/api/v1/sessions/mine").json()["project"] == "Orders"


def test_an_agents_key_means_the_agents_project(acme):
    bound = acme.with_key(agent_id="Coder")
    assert bound.http.post("/sessions", json={"id": "mine"}).json()["project"] == "coder"


def test_it_is_the_session_of_every_other_dialect(acme):
    begin(acme)
    turns = {"turns": [{"role": "user", "content": "hi"}]}
    acme.http.post("/api/v1/sessions/s1/turns", json=turns)
    assert begin(acme).json()["message_count"] == 1
