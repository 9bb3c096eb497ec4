"""The answers, as KAOS's clients and its console read them."""

from datetime import datetime, timedelta

import pytest

from tests.api.call import quoted
from tests.kaos.asking import add, begin, declare, events, known, stats

MOMENT = "2026-02-03T04:05:06.000007+00:00"
TYPES = (
    "user_message", "agent_response", "tool_call", "tool_result", "delegation_request",
    "delegation_response", "delegation_error", "task_delegation_received", "error", "reasoning",
)  # fmt: skip


def test_an_event_comes_back_with_what_the_console_reads(acme):
    begin(acme, "s", agent="coder")
    sent = {
        "event_id": "event_0a1b2c3d", "timestamp": MOMENT, "event_type": "user_message", "content": "Hello!",
        "metadata": {"source": "api"},
    }  # fmt: skip
    assert acme.http.post("/memory/sessions/s/events", json=sent).json() == {"added": True}
    assert acme.http.get("/memory/events").json() == {
        "agent": "agent",
        "events": [
            {**sent, "id": "event_0a1b2c3d", "type": "user_message", "role": "user", "session_id": "s"}
        ],
        "total": 1,
    }
    answer = acme.http.get("/memory/events", headers={"X-Agent": "coder"}).json()
    assert (answer["agent"], answer["total"]) == ("coder", 1)
    assert acme.http.get("/memory/sessions/", headers={"X-Agent": "coder"}).json() == {
        "agent": "coder", "sessions": ["s"], "total": 1,
    }  # fmt: skip


def test_every_type_and_any_json_is_content(acme):
    begin(acme, "s")
    contents = [
        None,
        True,
        0,
        -1.5,
        "",
        [],
        {"tool": "calc", "arguments": {"a": [1]}},
        "😀",
        {"a": None},
        [[]],
    ]
    for kind, content in zip(TYPES, contents, strict=True):
        assert add(acme, "s", content, event_type=kind)
    found = acme.http.get("/memory/sessions/s/events").json()["events"]
    assert [(one["event_type"], one["content"]) for one in found] == list(zip(TYPES, contents, strict=True))
    assert {one["role"] for one in found} == {None}, "what is no text is nobody's turn"
    query = {"event_types": ["tool_call", "error"]}
    some = acme.http.get("/memory/sessions/s/events", params=query).json()["events"]
    assert [one["event_type"] for one in some] == ["tool_call", "error"]
    both = acme.http.get("/memory/sessions/s/events?event_types=tool_call,error").json()
    assert both["events"] == some


def test_floats_stay_floats(acme):
    begin(acme, "s")
    contents = [1e16, {"a": [-1.5e300, 1e-9]}, 10**16]
    for content in contents:
        assert add(acme, "s", content, event_type="tool_result")
    found = acme.http.get("/memory/sessions/s").json()["events"]
    assert [repr(one["content"]) for one in found] == [repr(one) for one in contents]


def test_a_list_is_added_in_order_and_an_id_counts_once(acme):
    begin(acme, "s")
    items = [{"event_type": "error", "content": number, "event_id": f"e{number}"} for number in range(3)]
    for _time in range(2):
        assert acme.http.post("/memory/sessions/s/events", json=items).json() == {"added": True}
    assert events(acme) == [0, 1, 2]


def test_a_session_is_told_with_its_events(acme):
    before = datetime.now().astimezone()
    session = begin(acme, None, "ana", agent="coder")
    assert len(session) == len("session_") + 12
    add(acme, session, "hi", agent="coder")
    found = acme.http.get(f"/memory/sessions/{session}").json()
    assert found.keys() == {"session_id", "user_id", "app_name", "events", "created_at", "updated_at"}
    assert (found["session_id"], found["user_id"], found["app_name"]) == (session, "ana", "agent")
    assert [one["content"] for one in found["events"]] == ["hi"]
    created, updated = (datetime.fromisoformat(found[name]) for name in ("created_at", "updated_at"))
    assert before - timedelta(minutes=1) < created < updated
    begin(acme, session, "ana", agent="coder")
    acme.http.post(
        "/memory/sessions",
        json={"app_name": "writer", "user_id": "ana", "session_id": session},
        headers={"X-Agent": "coder"},
    )
    again = acme.http.get(f"/memory/sessions/{session}").json()
    assert (again["events"], again["app_name"]) == ([], "writer")
    assert datetime.fromisoformat(again["created_at"]) > updated


def test_one_that_is_there_is_found_and_its_moments_stay(acme):
    begin(acme, "s")
    add(acme, "s", "hi")
    before = acme.http.get("/memory/sessions/s").json()
    assert begin(acme, "s", "bob", create="if_missing") == "s"
    assert acme.http.get("/memory/sessions/s").json() == before


def test_what_is_unknown_is_404_false_or_empty(acme):
    assert acme.http.get("/memory/sessions/none").status_code == 404
    assert acme.http.get("/memory/sessions/none").json() == {"detail": "There is no such session."}
    assert acme.http.delete("/memory/sessions/none").json() == {"deleted": False}
    assert not add(acme, "none", "lost")
    assert acme.http.get("/memory/sessions/none/context").json() == {"context": ""}
    for path in ("/memory/sessions/none/events", "/memory/events?session_id=none", "/memory/events"):
        assert acme.http.get(path).json() == {"agent": "agent", "events": [], "total": 0}
    assert (known(acme), stats(acme)) == ([], (0, 0, 0))
    assert acme.http.get("/api/v1/sessions").json()["results"] == []


def test_events_are_the_last_ones_of_sessions_one_after_another(acme):
    for session in ("a", "b"):
        begin(acme, session)
    for number in range(3):
        add(acme, "b", f"b{number}")
        add(acme, "a", f"a{number}")
    assert events(acme) == ["a0", "a1", "a2", "b0", "b1", "b2"], "not by time"
    assert events(acme, limit=4) == ["a2", "b0", "b1", "b2"]
    assert events(acme, limit=2, session_id="a") == ["a1", "a2"]
    assert events(acme, session_id="") == events(acme)
    for limit in (0, 1001, 10**30):
        assert len(events(acme, limit=limit)) == 6


def test_the_limit_is_100_unless_it_is_named_and_1000_at_most(acme):
    begin(acme, "s")
    begin(acme, "t")
    for session in ("s", "t"):
        for start in (0, 500):
            items = [{"event_type": "error", "content": start + number} for number in range(500)]
            assert acme.http.post(f"/memory/sessions/{session}/events", json=items).json()["added"]
    assert [len(events(acme, **query)) for query in ({}, {"limit": 0}, {"limit": 5_000})] == [100, 1000, 1000]
    assert events(acme, limit=0) == [*range(500, 1000)] * 2, "of each session its newest 500"
    assert stats(acme) == (2, 1000, 500)


def test_the_context_is_what_was_said_last(acme):
    declare(acme, "coder", contextLimit=2)
    begin(acme, "s", agent="coder")
    for kind, content in [
        ("user_message", "Hello!"), ("agent_response", "Hi there!"), ("tool_call", {"tool": "calc"}),
        ("user_message", "How are you?"),
    ]:  # fmt: skip
        add(acme, "s", content, event_type=kind)
    url = "/memory/sessions/s/context"
    assert acme.http.get(url).json() == {"context": "Assistant: Hi there!\nUser: How are you?"}
    told = acme.http.get(f"{url}?max_events=20").json()["context"]
    assert told == "User: Hello!\nAssistant: Hi there!\nUser: How are you?"


@pytest.mark.parametrize("session", ["a/b", "a%2Fb", "a b", "ü", "..", "events", "a/events/b", "💡"])
def test_any_text_is_an_id(acme, session):
    begin(acme, session)
    assert add(acme, quoted(session), "x")
    assert events(acme, session_id=session) == ["x"]
    assert acme.http.get(f"/memory/sessions/{quoted(session)}").json()["session_id"] == session
    assert acme.http.delete(f"/memory/sessions/{quoted(session)}").json() == {"deleted": True}


def test_health_tells_who_answers_and_when(server, acme):
    answer = acme.http.get("/health").json()
    assert answer.keys() == {"status", "name", "timestamp"}
    assert (answer["status"], answer["name"], type(answer["timestamp"])) == ("ok", "strata", int)
