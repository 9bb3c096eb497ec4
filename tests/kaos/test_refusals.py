"""What is not valid: a clear 4xx as FastAPI says it, and nothing written."""

import pytest

from tests.kaos.asking import begin, known


@pytest.mark.parametrize("limit", ["abc", "", "1.5", "\uff11", "nan", "9" * 5_000])
def test_a_limit_that_is_no_number_is_told_as_fastapi_does(acme, limit):
    answer = acme.http.get("/memory/events", params={"limit": limit})
    assert answer.status_code == 422
    assert answer.json()["detail"] == [
        {
            "type": "int_parsing",
            "loc": ["query", "limit"],
            "msg": "Input should be a valid integer, unable to parse string as an integer",
            "input": limit,
        }
    ]


@pytest.mark.parametrize("limit", [-1, -(10**30)])
def test_a_limit_below_nothing_is_refused(acme, limit):
    (told,) = acme.http.get("/memory/events", params={"limit": limit}).json()["detail"]
    assert (told["type"], told["loc"], told["ctx"]) == ("greater_than_equal", ["query", "limit"], {"ge": 0})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"user_id": "ana"}, "app_name"),
        ({"app_name": "a"}, "user_id"),
        ({"app_name": "a", "user_id": None}, "user_id"),
        ({"app_name": 1, "user_id": "ana"}, "app_name"),
        ({"app_name": "a", "user_id": "u" * 256}, "user_id"),
        ({"app_name": "a", "user_id": "ana", "session_id": "s" * 256}, "session_id"),
        ({"app_name": "a", "user_id": "ana", "session_id": "s/"}, "session_id"),
        ({"app_name": "a", "user_id": "ana", "session_id": "s/events"}, "session_id"),
        ({"app_name": "a", "user_id": "ana", "create": "maybe"}, "create"),
    ],
)
def test_a_session_that_cannot_be_is_refused(acme, body, field):
    answer = acme.http.post("/memory/sessions", json=body)
    assert answer.status_code == 422
    assert [one["loc"] for one in answer.json()["detail"]] == [["body", field]]
    assert known(acme) == []


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"content": 1}, ["body", "event_type"]),
        ({"event_type": "error"}, ["body", "content"]),
        ({"event_type": "", "content": 1}, ["body", "event_type"]),
        ({"event_type": "x" * 65, "content": 1}, ["body", "event_type"]),
        ({"event_type": "error", "content": 1, "timestamp": "soon"}, ["body", "timestamp"]),
        ({"event_type": "error", "content": 1, "metadata": [1]}, ["body", "metadata"]),
        ([{"event_type": "error", "content": 1}, {"event_type": "error"}], ["body", "events", 1, "content"]),
        ([], ["body", "events"]),
    ],
)
def test_an_event_that_cannot_be_is_refused_and_with_it_its_list(acme, body, loc):
    begin(acme, "s")
    answer = acme.http.post("/memory/sessions/s/events", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == loc
    assert acme.http.get("/memory/sessions/s").json()["events"] == []


@pytest.mark.parametrize(
    ("path", "query", "loc"),
    [
        ("/memory/events", {"session_id": "a\x00b"}, ["query", "session_id"]),
        ("/memory/events", {"user_id": "x" * 256}, ["query", "user_id"]),
        ("/memory/sessions/a%00b", {}, ["path", "session_id"]),
        ("/memory/sessions/s/context", {"max_events": "0"}, ["query", "max_events"]),
        ("/memory/sessions/s/events/", {"event_types": "a\x00"}, ["query", "event_types"]),
        ("/memory/sessions/s/events", {"event_types": "tool_call,"}, ["query", "event_types"]),
        ("/memory/sessions/s/events", {"event_types": "x" * 65}, ["query", "event_types"]),
    ],
)
def test_what_is_no_id_is_refused(acme, path, query, loc):
    answer = acme.http.get(path, params=query)
    assert answer.status_code == 422
    assert [one["loc"] for one in answer.json()["detail"]] == [loc]


def test_a_number_that_is_too_long_is_told_as_that(acme):
    begin(acme, "s")
    body = f'{{"event_type": "x", "content": {"9" * 5_000}}}'
    answer = acme.http.post("/memory/sessions/s/events", content=body)
    assert (answer.status_code, "sys." in answer.text) == (422, False)
    (told,) = answer.json()["detail"]
    assert (told["loc"], told["msg"].rpartition(": ")[2]) == (["body"], "a whole number has too many digits")


@pytest.mark.parametrize("agent", ["a" * 256, "%00", "%FF"])
def test_a_header_that_names_no_agent_is_refused(acme, agent):
    answer = acme.http.get("/memory/events", headers={"X-Agent": agent})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["header", "X-Agent"]


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("K%C3%B6der", "K\u00f6der"),
        ("%E8%A8%88%0A%09", "\u8a08\n\t"),
        ("50%2525%20off", "50%25 off"),
        ("50% off", "50% off"),
        ("%20a+b", " a+b"),
    ],
)
def test_an_agents_name_is_percent_decoded_once(acme, header, name):
    begin(acme, "s", agent=header)
    answer = acme.http.get("/memory/sessions", headers={"X-Agent": header}).json()
    assert (answer["agent"], answer["sessions"]) == (name, ["s"])
    assert acme.http.get("/api/v1/sessions/s?user_id=ana").json()["agent_id"] == name


def test_what_is_too_large_is_413(acme):
    begin(acme, "s")
    body = {"event_type": "error", "content": "x" * 1_100_000}
    assert acme.http.post("/memory/sessions/s/events", json=body).status_code == 413


def test_paths_and_methods_that_are_not_there_are_told_as_fastapi_does(acme):
    answer = acme.http.get("/memory/nothing")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})
    answer = acme.http.put("/memory/sessions", json={})
    assert (answer.status_code, answer.json()) == (405, {"detail": "Method Not Allowed"})


def test_writing_needs_the_right_to_write(acme):
    reader = acme.with_key(scopes=("read",))
    for method, path in (
        ("POST", "/memory/sessions"), ("DELETE", "/memory/sessions/s"), ("POST", "/memory/sessions/s/events"),
        ("POST", "/memory/cleanup"),
    ):  # fmt: skip
        assert reader.http.request(method, path, json={}).status_code == 403
    assert reader.http.get("/memory/events").status_code == 200
