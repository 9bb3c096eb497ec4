"""Any text is an id, on every route, and no two texts are one id."""

import random
from urllib.parse import quote

import pytest

from tests.api.call import quoted
from tests.api.calls import WITH_ID
from tests.api.refusals import assert_refusal

ODD = [
    "a/b", "a:b", "a%2Fb", "a%2fb", "a%252Fb", "a b", "a+b", "a%20b", " a", "a ", "{a}", "{}", "a{b}c",
    "a?b", "a?b=c", "a%3Fb", "a#b", "a%", "%", "%%", "%zz", "%FF", "a\\b", "a\nb", "a\r\nb", "\n", "\t",
    ".", "..", "...", ".hidden", "../x", "a/../b", "a//b", "//a", "/a", "a&b", "a=b", "a;b", "a,b",
    "'", '"', "a'--", "<b>", "$a", "*", "a*", "~", "ü", "u\u0308", "ß", "ẞ", "\u0131", "İ", "A", "a",
    "日本語", "💡", "👩‍👩‍👧", "\u202e", "\ufeff", "\u200b", "\x7f", "\x01", "store", "search", "store/x",
    "x/store", "check", "a/check", "check/check", "a/mark", "a/claim", "a/evict", "mark", "turns", "events",
    "window", "end", "turns/a", "a/turns/b", "sessions", "null", "None", "true", "0", "-1", "1e3",
    "a" * 100, "é" * 100, "💡" * 100, "a|b", "a,b/c", "__proto__", "acme/acme", "a\u2028b",
]  # fmt: skip


@pytest.fixture(scope="module")
def crowd(long_lived):
    """One session for each odd id, with its own position as data, all in one tenant."""
    for position, one in enumerate(ODD):
        long_lived.http.put(f"/working-memory/{quoted(one)}", json={"data": {"n": position}})
        long_lived.http.post(f"/ledger/{quoted(one)}/mark", json={"item_key": "k", "value": str(position)})
        body = {"agent_id": "a", "conversation_id": one, "summary": str(position)}
        long_lived.http.post("/episodic/store", json=body)
        turns = {"turns": [{"role": "user", "content": str(position)}]}
        long_lived.http.post(f"/api/v1/sessions/{quoted(one)}/turns", json=turns)
    return long_lived


each = pytest.mark.parametrize(
    ("position", "one"), list(enumerate(ODD)), ids=[ascii(one[:12]) for one in ODD]
)


@each
def test_aegis_keeps_every_id_apart(crowd, position, one):
    path = f"/working-memory/{quoted(one)}"
    assert crowd.http.get(path).json() == crowd.http.get(f"{path}/").json() == {"n": position}
    assert crowd.http.get(f"{path}?envelope=1").json()["conversation_id"] == one
    found = crowd.http.get(f"/episodic/{quoted(one)}").json()
    assert (found["conversation_id"], [hit["summary"] for hit in found["memories"]]) == (one, [str(position)])
    assert found["memories"][0]["conversation_id"] == one


@each
def test_the_ledger_keeps_every_id_apart(crowd, position, one):
    assert crowd.http.get(f"/ledger/{quoted(one)}").json() == {"k": str(position)}
    checked = crowd.http.post(f"/ledger/{quoted(one)}/check", json={"item_key": "k"}).json()
    assert (checked["conversation_id"], checked["value"]) == (one, str(position))


@each
def test_native_sessions_keep_every_id_apart(crowd, position, one):
    path = f"/api/v1/sessions/{quoted(one)}"
    assert crowd.http.get(path).json()["session_id"] == crowd.http.get(f"{path}/").json()["session_id"] == one
    (event,) = crowd.http.get(f"{path}/events").json()["results"]
    (message,) = crowd.http.get(f"{path}/window").json()["messages"]
    assert event["content"] == message["content"] == str(position)
    (episode,) = crowd.http.get("/api/v1/episodes", params={"session_id": one}).json()["results"]
    assert (episode["session_id"], episode["text"]) == (one, str(position))


def test_every_id_is_listed_once(crowd):
    listed = crowd.http.get("/api/v1/sessions?limit=200").json()["results"]
    assert sorted(one["session_id"] for one in listed) == sorted(ODD)


@pytest.mark.parametrize("one", ODD, ids=lambda one: ascii(one[:12]))
def test_a_user_may_have_any_id_too(long_lived, one):
    user = {"user_id": one}
    long_lived.http.put("/working-memory/users", params=user, json={"data": {"me": one}})
    assert long_lived.http.get("/working-memory/users", params=user).json() == {"me": one}
    bound = long_lived.with_key(user_id=one)
    assert bound.http.get("/working-memory/users").json() == {"me": one}
    assert bound.http.get("/api/v1/sessions").json()["results"][0]["user_id"] == one


def test_parts_of_an_identity_do_not_run_together(acme):
    for namespace, user, session in [
        ("a", "b/c", "d"),
        ("a/b", "c", "d"),
        ("a", "b", "c/d"),
        ("", "a/b", "c/d"),
    ]:
        query = {"namespace": namespace, "user_id": user}
        data = {"whose": [namespace, user, session]}
        answer = acme.http.put(f"/working-memory/{quoted(session)}", params=query, json={"data": data})
        assert answer.json()["data"] == data


@pytest.mark.parametrize(
    "session", ["%00", "a%00b", "%ED%A0%80", "%FF", "%C0%AF", "a" * 256, "%F0%9F%92%A1" * 256]
)
@pytest.mark.parametrize("call", WITH_ID, ids=lambda call: call.name)
def test_what_is_no_id_is_refused(long_lived, call, session):
    path = call.path.replace("{id}", session)
    answer = long_lived.http.request(call.method, path, json=call.body)
    assert_refusal(answer, call, 422)


@pytest.mark.parametrize("value", ["%00", "a%00b", "%ED%A0%80", "%FF", "a" * 256])
@pytest.mark.parametrize("name", ["user_id", "namespace"])
@pytest.mark.parametrize(
    "call", [call for call in WITH_ID if not call.is_agentops], ids=lambda call: call.name
)
def test_what_is_no_user_or_namespace_is_refused(long_lived, call, name, value):
    answer = long_lived.http.request(call.method, f"{call.url()}?{name}={value}", json=call.body)
    assert_refusal(answer, call, 422)


def test_aegis_ids_have_100_characters_native_ones_255(acme):
    assert acme.http.put(f"/working-memory/{'a' * 101}", json={"data": {}}).status_code == 422
    assert acme.http.post("/api/v1/sessions", json={"session_id": "a" * 255}).status_code == 201
    assert acme.http.post("/api/v1/sessions", json={"session_id": "a" * 256}).status_code == 422


def test_ids_that_are_long_in_bytes_are_kept_or_refused(acme):
    """A B-tree row has 2,704 bytes; compression hides it until the characters are many different ones."""
    pick = random.Random(7)
    session, user, namespace, item = ("".join(chr(pick.randint(0x1F300, 0x1FAFF)) for _ in range(length))
                                      for length in (100, 255, 255, 512))  # fmt: skip
    query = {"user_id": user, "namespace": namespace}
    for method, path, body in [
        ("PUT", f"/working-memory/{quoted(session)}", {"data": {"a": 1}}),
        ("POST", f"/ledger/{quoted(session)}/mark", {"item_key": item}),
        ("POST", f"/ledger/{quoted(session)}/claim", {"item_key": item}),
        (
            "POST",
            f"/api/v1/sessions/{quoted(session * 2)}/events",
            {"event_type": "x", "content": 1, "event_id": user},
        ),
        ("POST", "/api/v1/sessions", {"session_id": session * 2}),
    ]:
        answer = acme.http.request(method, path, params=query, json=body)
        assert answer.status_code in (200, 201, 422), (
            f"{method} {path[:30]}: {answer.status_code} {answer.text[:200]}"
        )


@pytest.mark.parametrize("one", ["a/", "/", "a//"])
def test_an_id_that_ends_in_a_slash_is_refused(acme, one):
    """It could not be told from the slash that a route may end in, and would reach another session."""
    assert acme.http.post("/api/v1/sessions", json={"session_id": one}).status_code == 422
    assert acme.http.post(f"/ledger/{quote(one, safe='')}/mark", json={"item_key": "k"}).status_code == 422
    stored = {"agent_id": "a", "conversation_id": one, "summary": "s"}
    assert acme.http.post("/episodic/store", json=stored).status_code == 422


@pytest.mark.parametrize("route", ["turns", "events", "window", "end", "start", "checkpoint"])
def test_a_native_id_that_ends_like_a_route_is_refused(acme, route):
    one = f"a/{route}"
    assert acme.http.post("/api/v1/sessions", json={"session_id": one}).status_code == 422
    turns = {"turns": [{"role": "user", "content": "x"}]}
    path = f"/api/v1/sessions/{quote(one, safe='')}/turns"
    assert acme.http.post(path, json=turns).status_code == 422
