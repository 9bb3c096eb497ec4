"""`GET /sessions/recent`"""

import time

from tests.agentops.shapes import get


def begin(member, session, project="orders"):
    member.http.post("/sessions", json={"id": session, "project": project})


def ids(member, **query):
    return [one["id"] for one in get(member, "/sessions/recent", **query)]


def test_those_begun_last_come_first_whatever_was_used_last(acme):
    for session in ("one", "two", "three"):
        begin(acme, session)
    acme.http.post("/api/v1/sessions/one/turns", json={"turns": [{"role": "user", "content": "hi"}]})
    time.sleep(0.01)
    assert ids(acme, project="orders") == ["three", "two", "one"]


def test_five_unless_the_limit_says_otherwise(acme):
    for number in range(7):
        begin(acme, str(number))
    assert len(ids(acme, project="orders")) == 5
    assert ids(acme, project="orders", limit=2) == ["6", "5"]
    for ignored in ("0", "-3", "x", "", "1.5"):
        assert len(ids(acme, project="orders", limit=ignored)) == 5
    assert len(ids(acme, project="orders", limit="9999")) == 7


def test_the_case_of_the_project_does_not_matter(acme):
    begin(acme, "one", "MyProj")
    acme.http.post("/api/v1/sessions", json={"session_id": "native", "project": "MYPROJ"})
    assert ids(acme, project="myPROJ") == ["native", "one"]


def test_without_a_project_there_are_none(acme):
    begin(acme, "one")
    assert get(acme, "/sessions/recent") == []
    assert get(acme, "/sessions/recent", project="nowhere") == []


def test_a_bound_key_means_its_project(acme):
    begin(acme, "mine")
    begin(acme, "other", "other")
    assert ids(acme.with_key(project="Orders")) == ["mine"]
    assert ids(acme.with_key(project="Orders"), project="ORDERS") == ["mine"]


def test_a_users_key_sees_its_users(acme):
    begin(acme, "nobody's")
    ann = acme.with_key(user_id="ann")
    begin(ann, "ann's")
    assert ids(ann, project="orders") == ["ann's"]
    assert ids(acme, project="orders") == ["ann's", "nobody's"]
