import json
from pathlib import Path
from typing import Any

from tests.conftest import Member
from tests.importing.importing import reasons, run, serving, totals, write_lines, written_in


def event(number: int, content: Any = "", event_type: str = "user_message", **others: Any) -> dict[str, Any]:
    return {
        "event_id": f"event_{number:08x}",
        "timestamp": f"2026-04-01T10:{number % 60:02}:00.000000+00:00",
        "event_type": event_type,
        "content": content or f"Line {number}.",
        "metadata": {"trace_id": "t"},
        **others,
    }


TALK = [
    event(1, "Where is my parcel?"),
    event(2, {"tool": "track", "arguments": {"id": 4}}, "tool_call"),
    event(3, "It is in Leeds.", "agent_response"),
]


def kaos(method: str, path: str, query: dict[str, str], _body: Any) -> tuple[int, Any]:
    talks = {"session_a": TALK, "session_b": [event(number) for number in range(450)]}
    if path == "/memory/sessions":
        return 200, {"agent": "helper", "sessions": list(talks), "total": len(talks)}
    events = talks[query["session_id"]][-int(query["limit"]) :]
    return 200, {"agent": "helper", "events": events, "total": len(events)}


def test_an_agent_s_sessions_become_logs_once(acme: Member) -> None:
    with serving(kaos) as server:
        before = written_in(acme.tenant.id)
        dry = run("kaos", server.url, acme.tenant.slug, "--dry-run")
        assert written_in(acme.tenant.id) == before
        done = run("kaos", server.url, acme.tenant.slug)
        here = written_in(acme.tenant.id)
        again = run("kaos", server.url, acme.tenant.slug)

    assert dry["kinds"] == done["kinds"]
    assert totals(done) == {"read": 453, "written": 453}
    assert totals(again) == {"read": 453, "unchanged": 453}
    assert written_in(acme.tenant.id) == here
    kept = acme.http.get("/api/v1/sessions/session_a/events").json()["results"]
    assert [(one["event_id"], one["event_type"], one["content"]) for one in kept] == [
        (one["event_id"], one["event_type"], one["content"]) for one in TALK
    ]
    assert acme.http.get("/api/v1/sessions/session_a").json()["agent_id"] == "helper"


def test_a_file_of_answers_is_read_and_what_is_broken_told(acme: Member, tmp_path: Path) -> None:
    secret = event(9, "The password of the staging database is hunter2-Xk9!")
    broken = event(5, timestamp="noon")
    file = tmp_path / "session_x.json"
    file.write_text(json.dumps({"agent": "agent", "events": [*TALK, broken, secret, TALK[0]], "total": 6}))

    found = run("kaos", file, acme.tenant.slug, "--user", "ana")

    assert totals(found) == {"read": 6, "written": 4, "junk": 1, "duplicates": 1}
    assert list(reasons(found, "junk")) == ["timestamp is a broken date"]
    assert [(one["kind"], one["done"]) for one in found["findings"]] == [("secret:password", "masked")]
    path = "/api/v1/sessions/session_x/events"
    kept = acme.http.get(path, params={"user_id": "ana"}).json()["results"]
    assert [one["event_id"] for one in kept] == [
        "event_00000001",
        "event_00000002",
        "event_00000003",
        "event_00000009",
    ]
    assert "hunter2" not in json.dumps(kept)


def test_lines_that_name_their_sessions_are_put_there(acme: Member, tmp_path: Path) -> None:
    lines = [event(number, session_id=f"s{number // 3}") for number in range(6)]
    found = run("kaos", write_lines(tmp_path / "all.jsonl", lines), acme.tenant.slug)

    assert totals(found) == {"read": 6, "written": 6}
    for name in ("s0", "s1"):
        assert len(acme.http.get(f"/api/v1/sessions/{name}/events").json()["results"]) == 3


def said_in(member: Member, session: str, **whose: str) -> list[Any]:
    answer = member.http.get(f"/api/v1/sessions/{session}/events", params=whose)
    return [one["content"] for one in answer.json()["results"]] if answer.status_code == 200 else []


def test_an_answer_of_several_sessions_and_people_is_told_apart(acme: Member, tmp_path: Path) -> None:
    events = [
        event(1, "Hello.", session_id="s1", user_id="ana"),
        event(2, "I am Bob.", session_id="s2", user_id="bob"),
        event(3, "Is anybody there?", session_id="s1"),
        event(4, "Good bye.", session_id="s1", user_id="ana"),
    ]
    file = tmp_path / "events.json"
    file.write_text(json.dumps({"agent": "helper", "events": events, "total": 4}))

    assert totals(run("kaos", file, acme.tenant.slug)) == {"read": 4, "written": 4}

    assert said_in(acme, "s1", user_id="ana") == ["Hello.", "Good bye."]
    assert said_in(acme, "s2", user_id="bob") == ["I am Bob."]
    assert said_in(acme, "s1") == ["Is anybody there?"]
    assert said_in(acme, "s1", user_id="bob") == []


def test_nobody_s_events_do_not_become_those_of_a_person_with_such_a_session(
    acme: Member, tmp_path: Path
) -> None:
    turn = {"turns": [{"role": "user", "content": "I am Ana."}]}
    talk = "/api/v1/sessions/talk/turns"
    acme.http.post(talk, params={"user_id": "ana"}, json=turn).raise_for_status()
    file = write_lines(tmp_path / "all.jsonl", [event(1, "Who is there?", session_id="talk")])

    assert totals(run("kaos", file, acme.tenant.slug)) == {"read": 1, "written": 1}
    assert totals(run("kaos", file, acme.tenant.slug)) == {"read": 1, "unchanged": 1}

    assert said_in(acme, "talk", user_id="ana") == ["I am Ana."]
    assert said_in(acme, "talk") == ["Who is there?"]


def test_a_number_that_is_none_keeps_no_other_event_out(acme: Member, tmp_path: Path) -> None:
    broken = event(2, {"tool": "x", "result": float("nan")}, "tool_result", session_id="s")
    lines = [event(1, "One.", session_id="s"), broken, event(3, "Three.", session_id="s")]

    found = run("kaos", write_lines(tmp_path / "all.jsonl", lines), acme.tenant.slug)

    assert totals(found) == {"read": 3, "written": 2, "junk": 1}
    assert reasons(found, "junk") == {"a number that cannot be stored": ["line 2"]}
    assert said_in(acme, "s") == ["One.", "Three."]


def test_an_event_without_an_id_is_known_again_when_others_are_gone(acme: Member, tmp_path: Path) -> None:
    lines = [
        {**event(number, content, session_id=session), "event_id": None}
        for number, session, content in (
            (1, "s1", "Yes."), (2, "s2", "No."), (3, "s1", "Yes."), (3, "s1", "Yes."), (4, "s1", "Well."),
        )
    ]  # fmt: skip
    whole = run("kaos", write_lines(tmp_path / "whole.jsonl", lines), acme.tenant.slug)
    trimmed = run("kaos", write_lines(tmp_path / "trimmed.jsonl", lines[2:]), acme.tenant.slug)

    assert totals(whole) == {"read": 5, "written": 5}
    assert totals(trimmed) == {"read": 3, "unchanged": 3}
    assert said_in(acme, "s1") == ["Yes.", "Yes.", "Yes.", "Well."]
