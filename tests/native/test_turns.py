from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from tests.native.shapes import problem

URL = "/api/v1/sessions/s/turns"


def post(member, *turns, url=URL, **body):
    return member.http.post(url, json={"turns": list(turns), **body})


def test_the_first_turns_create_the_session(acme):
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    answer = post(acme, *turns, user_id="u1", agent_id="ada")
    assert (answer.status_code, answer.json()) == (
        200, {"accepted": 2, "duplicates": 0, "turn_count": 2, "summarised": False})  # fmt: skip
    session = acme.http.get("/api/v1/sessions/s?user_id=u1").json()
    assert (session["user_id"], session["agent_id"], session["turn_count"]) == ("u1", "ada", 2)


def test_every_part_of_a_turn_comes_back(acme):
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    post(
        acme,
        {"role": "system", "content": ""},
        {
            "role": "user",
            "content": " spaces kept \n",
            "name": "Kim",
            "created_at": "2026-01-01T00:00:00+02:00",
        },
        {"role": "assistant", "content": None, "tool_calls": calls, "metadata": {"m": [1]}},
        {"id": "t4", "role": "tool", "content": "42", "tool_call_id": "c"},
    )
    events = acme.http.get("/api/v1/sessions/s/events").json()["results"]
    assert [one["event_type"] for one in events] == [
        "system_message",
        "user_message",
        "tool_call",
        "tool_result",
    ]
    assert [one["seq"] for one in events] == [1, 2, 3, 4]
    assert (events[1]["content"], events[1]["name"]) == (" spaces kept \n", "Kim")
    assert events[1]["timestamp"] == "2025-12-31T22:00:00Z"
    assert (events[2]["tool_calls"], events[2]["metadata"]) == (calls, {"m": [1]})
    assert (events[3]["event_id"], events[3]["tool_call_id"]) == ("t4", "c")


def test_a_turn_id_seen_before_is_a_duplicate_not_an_error(acme):
    post(acme, {"id": "1", "role": "user", "content": "a"})
    again = post(
        acme, {"id": "1", "role": "user", "content": "a"}, {"id": "2", "role": "user", "content": "b"}
    )
    assert again.json() == {"accepted": 1, "duplicates": 1, "turn_count": 2, "summarised": False}


def test_the_same_batch_from_eight_clients_is_stored_once(acme):
    batch = [{"id": f"{n}", "role": "user", "content": f"{n}"} for n in range(5)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _n: post(acme, *batch).json(), range(8)))
    assert sum(one["accepted"] for one in answers) == 5
    assert {one["turn_count"] for one in answers} == {5}


def test_a_thousand_turns_fit_one_batch(acme):
    assert post(acme, *[{"role": "user", "content": "x"}] * 1_000).json()["accepted"] == 1_000
    problem(post(acme, *[{"role": "user", "content": "x"}] * 1_001), 422)


@pytest.mark.parametrize(("turn", "field"), [
    ({"role": "robot", "content": "x"}, "turns.1.role"),
    ({"content": "x"}, "turns.1.role"),
    ({"role": "user"}, "turns.1.content"),
    ({"role": "user", "content": 7}, "turns.1.content"),
    ({"role": "user", "content": "x", "colour": "red"}, "turns.1.colour"),
    ({"role": "user", "content": "x", "created_at": "yesterday"}, "turns.1.created_at"),
    ({"role": "user", "content": "x", "created_at": "2026-01-01T00:00:00"}, "turns.1.created_at"),
    ({"role": "user", "content": "x", "created_at": "2099-01-01T00:00:00Z"}, "turns.1.created_at"),
    ({"role": "user", "content": "x", "tool_calls": ["f"]}, "turns.1.tool_calls.0"),
    ({"role": "user", "content": "x", "id": ""}, "turns.1.id"),
])  # fmt: skip
def test_one_bad_turn_refuses_the_batch_and_is_named(acme, turn, field):
    problem(post(acme, {"role": "user", "content": "good"}, turn), 422, field)
    problem(acme.http.get("/api/v1/sessions/s"), 404)


@pytest.mark.parametrize(("minutes", "status"), [(4, 200), (6, 422)])
def test_a_clock_may_be_five_minutes_ahead(acme, minutes, status):
    moment = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    answer = post(acme, {"role": "user", "content": "x", "created_at": moment})
    assert answer.status_code == status
    if status == 422:
        (told,) = answer.json()["errors"]
        assert told["message"] == "May not lie more than 5 minutes in the future."


@pytest.mark.parametrize("body", [{}, {"turns": []}, {"turns": {}}, {"turns": "x"}, []])
def test_without_turns_there_is_nothing_to_do(acme, body):
    problem(acme.http.post(URL, json=body), 422)


def test_body_and_query_may_not_name_two_users(acme):
    problem(
        post(acme, {"role": "user", "content": "x"}, url=f"{URL}?user_id=u1", user_id="u2"), 422, "user_id"
    )


def test_a_body_above_the_limit_is_413(acme):
    problem(post(acme, {"role": "user", "content": "x" * 1_100_000}), 413)


def test_a_key_bound_to_an_agent_may_not_write_into_anothers_session(acme):
    post(acme, {"role": "user", "content": "x"}, agent_id="ada")
    bob = acme.with_key(agent_id="bob")
    problem(post(bob, {"role": "user", "content": "x"}), 403)
    problem(post(bob, {"role": "user", "content": "x"}, agent_id="ada"), 403)
    assert acme.http.get("/api/v1/sessions/s").json()["turn_count"] == 1


def decide(acme, **changes):
    answer = acme.http.patch("/api/v1/policy", json={"document": changes})
    assert answer.status_code == 200, answer.text


def pair(number):
    return [{"role": role, "content": f"{role} {number}"} for role in ("user", "assistant")]


def test_the_answer_says_when_older_turns_were_summarised(acme):
    decide(acme.with_key(scopes=["admin"]), summary={"every_turns": 6})
    told = [post(acme, *pair(n)).json()["summarised"] for n in range(1, 5)]
    assert told == [False, False, True, False]
    window = acme.http.get("/api/v1/sessions/s/window").json()
    noted = '"assistant 1" "assistant 2"'
    summary = f'Session with 4 messages. Started: "user 1" — Ended: "user 2" Noted: {noted}'
    assert (window["summary"], window["truncated"]) == (summary, True)
    assert [one["content"] for one in window["messages"]] == [
        summary, "user 3", "assistant 3", "user 4", "assistant 4"]  # fmt: skip
    (episode,) = acme.http.get("/api/v1/episodes?session_id=s").json()["results"]
    assert (episode["text"], episode["covers_turns"]) == (summary, [1, 4])
    assert len(acme.http.get("/api/v1/sessions/s/events").json()["results"]) == 8
    assert acme.http.get("/api/v1/sessions/s").json()["turn_count"] == 8


def test_events_that_are_turns_are_summarised_as_well(acme):
    decide(acme.with_key(scopes=["admin"]), summary={"every_turns": 4})
    said = [("user_message", "a"), ("agent_response", "b")] * 3
    events = [{"event_type": kind, "content": content} for kind, content in said]
    assert acme.http.post("/api/v1/sessions/s/events", json=events).json()["accepted"] == 6
    assert acme.http.get("/api/v1/episodes?session_id=s").json()["results"][0]["covers_turns"] == [1, 4]


def test_a_batch_sent_again_is_answered_as_the_first_time(acme):
    decide(acme.with_key(scopes=["admin"]), summary={"every_turns": 4})
    batch, key = {"turns": [*pair(1), *pair(2)]}, {"Idempotency-Key": "k"}
    first, again = (acme.http.post(URL, json=batch, headers=key) for _ in range(2))
    assert first.json() == again.json() == {
        "accepted": 4, "duplicates": 0, "turn_count": 4, "summarised": True}  # fmt: skip
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(acme.http.get("/api/v1/episodes?session_id=s").json()["results"]) == 1


def test_with_the_log_off_the_window_is_there_and_the_log_is_empty(acme):
    decide(acme.with_key(scopes=["admin"]), write={"events": "off"})
    assert post(acme, *pair(1)).json()["turn_count"] == 2
    assert len(acme.http.get("/api/v1/sessions/s/window").json()["messages"]) == 2
    assert acme.http.get("/api/v1/sessions/s/events").json()["results"] == []
    ended = acme.http.post("/api/v1/sessions/s/end", json={}).json()
    told = 'Session with 2 messages. Started: "user 1" — Ended: "user 1" Noted: "assistant 1"'
    assert ended["summary"] == told
