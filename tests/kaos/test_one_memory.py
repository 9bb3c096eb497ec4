"""KAOS's memory is a view of the one memory: other doors, replicas, restarts, and requests sent again."""

import os

import httpx
import pytest

from tests.conftest import Member
from tests.kaos.asking import add, begin, declare, events, known, stats
from tests.plugin import HOME
from tests.processes import Web


@pytest.fixture
def replica(acme):
    """The same member at another web process, which knows nothing of the first."""
    web = Web(dict(os.environ), log=HOME / "replica.log")
    try:
        url = web.wait_until_alive().url
        headers = {"Authorization": f"Bearer {acme.key}"}
        yield Member(
            acme.tenant, acme.key, acme.caller, httpx.Client(base_url=url, headers=headers, timeout=30)
        )
    finally:
        web.stop()


def test_another_replica_or_a_new_start_has_all_of_it(acme, replica):
    begin(acme, "s", agent="coder")
    begin(acme, "let go", agent="coder")
    add(acme, "s", 1)
    for number, member in enumerate([replica, acme] * 3, 2):
        assert add(member, "s", number)
    assert events(replica, session_id="s") == events(acme, session_id="s") == [1, 2, 3, 4, 5, 6, 7]
    begin(replica, "s", agent="coder")
    assert add(acme, "s", "anew")
    for member in (acme, replica):
        assert (events(member), known(member), stats(member)) == (["anew"], ["s", "let go"], (2, 1, 0))
    assert replica.http.delete("/memory/sessions/s").json() == {"deleted": True}
    assert not add(acme, "s", "gone")


def test_what_it_is_told_is_a_turn_to_every_other_door(acme):
    begin(acme, "s", "ana", agent="coder")
    for kind, content in (
        ("user_message", "Which port?"), ("tool_call", {"tool": "calc", "arguments": {}}),
        ("agent_response", "Port 8002."),
    ):  # fmt: skip
        add(acme, "s", content, event_type=kind)
    window = acme.http.get("/api/v1/sessions/s/window?user_id=ana").json()["messages"]
    assert [(one["role"], one["content"]) for one in window] == [
        ("user", "Which port?"), ("assistant", "Port 8002."),
    ]  # fmt: skip
    session = acme.http.get("/api/v1/sessions/s?user_id=ana").json()
    assert (session["agent_id"], session["turn_count"]) == ("coder", 2)
    ended = acme.http.post("/api/v1/sessions/s/end?user_id=ana").json()
    assert ended["message_count"] == 2
    assert add(acme, "s", "One more thing.")
    assert acme.http.get("/api/v1/sessions/s?user_id=ana").json()["ended_at"] is None


def test_it_knows_what_every_other_door_is_told(acme):
    turns = {"turns": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}
    acme.http.post("/api/v1/sessions/native/turns", json=turns)
    acme.http.put(
        "/v1/working-memory/whole", json={"messages": [{"role": "user", "content": "hey", "id": "m"}]}
    )
    assert known(acme) == ["native", "whole"]
    assert events(acme) == ["hello", "hi", "hey"]
    context = acme.http.get("/memory/sessions/native/context").json()["context"]
    assert context == "User: hello\nAssistant: hi"
    acme.http.put("/v1/working-memory/whole", json={"messages": []})
    assert events(acme, session_id="whole") == [], "what a client leaves out of its session is left out"


def test_an_event_without_an_id_of_its_own_has_the_same_one_at_every_door(acme):
    begin(acme, "s", "ana")
    add(acme, "s", "hello")
    add(acme, "s", None)
    add(acme, "s", "named", event_id="mine")
    told = acme.http.get("/memory/events").json()["events"]
    logged = acme.http.get("/api/v1/sessions/s/events?user_id=ana").json()["results"]
    assert [one["event_id"] for one in logged] == [one["event_id"] for one in told]
    assert (told[0]["event_id"] != told[1]["event_id"], told[2]["event_id"]) == (True, "mine")
    roles = ["user", None, "user"]
    assert [one["role"] for one in logged] == [one["role"] for one in told] == roles


def test_what_is_sent_again_is_answered_again_and_not_done_again(acme):
    key = {"Idempotency-Key": "k"}
    body = {"app_name": "agent", "user_id": "ana"}
    first, second = (acme.http.post("/memory/sessions", json=body, headers=key).json() for _time in range(2))
    assert first == second
    session = first["session_id"]
    event = {"event_type": "user_message", "content": "hi"}
    lost = acme.http.post("/memory/sessions/t/events", json=event, headers={"Idempotency-Key": "l"})
    begin(acme, "t")
    again = acme.http.post("/memory/sessions/t/events", json=event, headers={"Idempotency-Key": "l"})
    assert lost.json() == again.json() == {"added": False}
    for _time in range(2):
        acme.http.post(f"/memory/sessions/{session}/events", json=event, headers={"Idempotency-Key": "m"})
    assert events(acme) == ["hi"]


def test_a_memory_that_is_switched_off_takes_all_and_has_nothing(acme):
    begin(acme, "s", agent="coder")
    add(acme, "s", "before", agent="coder")
    begin(acme, "t", agent="writer")
    declare(acme, "coder", enabled=False)
    begun = acme.http.post("/memory/sessions", json={"app_name": "coder", "user_id": "ana"})
    assert begun.json() == {"session_id": "null-session"}
    assert begin(acme, "mine", agent="coder") == "mine"
    assert add(acme, "s", "after", agent="coder")
    assert not add(acme, "s", "after"), "to who names no agent, it is not there"
    assert (known(acme, agent="coder"), stats(acme, agent="coder")) == ([], (0, 0, 0))
    assert (known(acme), events(acme)) == (["t"], [])
    assert acme.http.get("/memory/sessions/s", headers={"X-Agent": "coder"}).status_code == 404
    deleted = acme.http.delete("/memory/sessions/s", headers={"X-Agent": "coder"})
    assert deleted.json() == {"deleted": True}
    cleaned = acme.http.post("/memory/cleanup", json={"max_age_hours": 0}, headers={"X-Agent": "coder"})
    assert cleaned.json() == {"removed": 0}
    declare(acme, "coder", enabled=True)
    assert events(acme, agent="coder") == ["before"], "its log is as it was"


def test_deleting_deletes_the_log_and_one_of_that_id_begins_anew(acme):
    begin(acme, "s")
    add(acme, "s", "sesame")
    assert acme.http.delete("/memory/sessions/s").json() == {"deleted": True}
    assert acme.http.get("/api/v1/sessions").json()["results"] == []
    begin(acme, "s")
    assert (known(acme), events(acme)) == (["s"], [])
