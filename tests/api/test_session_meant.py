"""Which session is meant (DESIGN §1), alike over AEGIS, ledger and native routes.

`data` of the working memory, an item of the ledger and a turn of the log say whose session was found.
"""

import pytest
from django_redis import get_redis_connection

PATHS = ["/working-memory/s", "/ledger/s", "/api/v1/sessions/s/window", "/api/v1/sessions/s"]


def write(member, whose, **query):
    """Leaves `whose` in each kind of memory of session `s`."""
    asked = {"params": query}
    answers = [
        member.http.put("/working-memory/s", json={"data": {"whose": whose}}, **asked),
        member.http.post("/ledger/s/mark", json={"item_key": "whose", "value": whose}, **asked),
        member.http.post(
            "/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": whose}]}, **asked
        ),
    ]
    for answer in answers:
        answer.raise_for_status()


def read(member, **query):
    """Whose session each kind of memory answers; None for none."""
    fields, items, window, session = (member.http.get(path, params=query) for path in PATHS)
    if window.status_code == 404:
        assert (fields.json(), items.json(), session.status_code) == ({}, {}, 404)
        return None
    (message,) = window.json()["messages"]
    found = {fields.json()["whose"], items.json()["whose"], message["content"]}
    assert len(found) == 1
    assert session.status_code == 200
    return found.pop()


def statuses(member, **query):
    return {member.http.get(path, params=query).status_code for path in PATHS}


@pytest.fixture(params=["warm", "cold"])
def forget(request, acme):
    """In the cold case Redis has forgotten who owns the sessions: PostgreSQL is asked."""

    def _forget():
        if request.param == "cold":
            redis = get_redis_connection()
            for key in redis.scan_iter(f"agent:session:*{acme.tenant.id.hex}*", count=1_000):
                redis.delete(key)

    return _forget


def test_a_named_user_means_exactly_that_users_session(acme, forget):
    write(acme, "nobody's")
    write(acme, "alice's", user_id="alice")
    forget()
    assert read(acme, user_id="alice") == "alice's"
    assert read(acme, user_id="bob") is None


def test_no_name_means_the_session_without_a_user(acme, forget):
    write(acme, "nobody's")
    write(acme, "alice's", user_id="alice")
    write(acme, "bob's", user_id="bob")
    forget()
    assert read(acme) == "nobody's"


def test_without_one_it_means_the_only_one_of_that_id(acme, forget):
    write(acme, "alice's", user_id="alice")
    forget()
    assert read(acme) == "alice's"


def test_a_write_without_a_name_goes_to_the_only_one_too(acme):
    acme.http.put("/working-memory/s", params={"user_id": "alice"}, json={"data": {"a": 1}})
    assert acme.http.put("/working-memory/s", json={"data": {"b": 2}}).json()["data"] == {"a": 1, "b": 2}
    acme.http.post("/ledger/s/claim", json={"item_key": "k"})
    acme.http.post("/api/v1/sessions/s/events", json={"event_type": "note", "content": 1})
    assert acme.http.get("/ledger/s", params={"user_id": "alice"}).json() == {"k": "1"}
    (session,) = acme.http.get("/api/v1/sessions").json()["results"]
    assert (session["user_id"], session["session_id"]) == ("alice", "s")


def test_several_are_a_conflict_that_names_the_way_out(acme, forget):
    write(acme, "alice's", user_id="alice")
    write(acme, "bob's", user_id="bob")
    forget()
    assert statuses(acme) == {409}
    for method, path, body in [
        ("PUT", "/working-memory/s", {"data": {"whose": "?"}}),
        ("DELETE", "/working-memory/s", None),
        *(
            ("POST", f"/ledger/s/{verb}", {"item_key": "whose"})
            for verb in ("check", "mark", "claim", "evict")
        ),
        ("DELETE", "/ledger/s", None),
        ("POST", "/api/v1/sessions", {"session_id": "s"}),
        ("POST", "/api/v1/sessions/s/turns", {"turns": [{"role": "user", "content": "?"}]}),
        ("POST", "/api/v1/sessions/s/events", {"event_type": "note", "content": "?"}),
        ("GET", "/api/v1/sessions/s/events", None),
        ("POST", "/api/v1/sessions/s/end", None),
        ("DELETE", "/api/v1/sessions/s", None),
    ]:
        answer = acme.http.request(method, path, json=body)
        assert answer.status_code == 409, (method, path, answer.text)
        assert "user_id" in answer.json()["detail"]
    assert read(acme, user_id="alice") == "alice's"
    assert read(acme, user_id="bob") == "bob's"


def test_a_bound_key_means_its_users_session(acme, forget):
    write(acme, "nobody's")
    write(acme, "alice's", user_id="alice")
    write(acme, "bob's", user_id="bob")
    forget()
    assert read(acme.with_key(user_id="alice")) == "alice's"
    assert read(acme.with_key(user_id="carol")) is None


def test_a_bound_keys_write_creates_its_users_session(acme):
    write(acme, "nobody's")
    write(acme.with_key(user_id="alice"), "alice's")
    assert (read(acme), read(acme, user_id="alice")) == ("nobody's", "alice's")


def test_a_namespace_narrows_it(acme, forget):
    write(acme, "here", namespace="here")
    write(acme, "there", namespace="there")
    forget()
    assert read(acme, namespace="here") == "here"
    assert read(acme, namespace="there") == "there"
    assert read(acme, namespace="nowhere") is None
    assert statuses(acme) == {409}


def test_a_namespace_alone_is_found_without_its_name(acme, forget):
    write(acme, "here", namespace="here")
    forget()
    assert read(acme) == "here"


def test_user_and_namespace_together_are_exact(acme, forget):
    write(acme, "here", namespace="here")
    write(acme, "alice", user_id="alice")
    write(acme, "alice here", user_id="alice", namespace="here")
    forget()
    assert read(acme, user_id="alice", namespace="here") == "alice here"
    assert read(acme, user_id="alice") == "alice"
    assert read(acme, namespace="here") == "here"


def test_a_users_only_session_is_found_in_its_namespace(acme, forget):
    write(acme, "alice's", user_id="alice", namespace="here")
    forget()
    assert read(acme, user_id="alice") == "alice's"
    assert read(acme.with_key(user_id="alice")) == "alice's"


def test_an_empty_name_is_no_name(acme, forget):
    write(acme, "alice's", user_id="alice")
    forget()
    assert read(acme, user_id="", namespace="") == "alice's"


def test_user_of_body_and_query_must_agree(acme):
    body = {"user_id": "alice", "turns": [{"role": "user", "content": "hi"}]}
    same, other = {"user_id": "alice"}, {"user_id": "bob"}
    assert acme.http.post("/api/v1/sessions/s/turns", params=same, json=body).status_code == 200
    assert acme.http.post("/api/v1/sessions/s/turns", params=other, json=body).status_code == 422
    assert (
        acme.http.post("/api/v1/sessions", params=other, json={"session_id": "s", **same}).status_code == 422
    )
