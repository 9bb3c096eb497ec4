"""`POST /sessions/{id}/end`"""

import pytest

from tests.agentops.shapes import get, refused


def begin(member, session="s1"):
    member.http.post("/sessions", json={"id": session, "project": "orders"})


def end(member, messages=None, session="s1"):
    body = {} if messages is None else {"messages": messages}
    return member.http.post(f"/sessions/{session}/end", json=body)


def said(*contents, role="user"):
    return [{"role": role, "content": content} for content in contents]


def test_the_summary_tells_how_many_and_the_users_first_and_last_words(acme):
    begin(acme)
    messages = [*said("Deploy it"), *said("Done", role="assistant"), *said("Thanks")]
    answer = end(acme, messages)
    assert answer.status_code == 200
    assert answer.json() == {
        "session_id": "s1",
        "summary": 'Session with 3 messages. Started: "Deploy it" — Ended: "Thanks"',
        "message_count": 3,
    }
    (listed,) = get(acme, "/sessions/recent", project="orders")
    assert (listed["summary"], listed["message_count"]) == (answer.json()["summary"], 3)


def test_words_are_cut_off_at_200_characters(acme):
    begin(acme)
    summary = end(acme, said("é" * 300)).json()["summary"]
    assert "é" * 200 in summary
    assert "é" * 201 not in summary


def test_without_a_user_only_the_number_is_told(acme):
    begin(acme)
    assert end(acme, said("beep", role="assistant")).json()["summary"] == "Session with 1 messages."


@pytest.mark.parametrize("messages", [None, []])
def test_without_messages_the_summary_is_empty_and_told(acme, messages):
    begin(acme)
    assert end(acme, messages).json() == {"session_id": "s1", "summary": "", "message_count": 0}
    (listed,) = get(acme, "/sessions/recent", project="orders")
    assert listed["summary"] == ""
    assert listed["ended_at"]


def test_ending_it_again_replaces_the_summary(acme):
    begin(acme)
    end(acme, said("one"))
    again = end(acme, said("one", "two")).json()
    assert again["summary"] == 'Session with 2 messages. Started: "one" — Ended: "two"'
    (listed,) = get(acme, "/sessions/recent", project="orders")
    assert (listed["summary"], listed["message_count"]) == (again["summary"], 2)


def test_an_unknown_session_is_answered_and_nothing_is_kept(acme):
    answer = end(acme, said("hi"), session="nowhere")
    assert (answer.status_code, answer.json()["session_id"]) == (200, "nowhere")
    assert get(acme, "/stats")["total_sessions"] == 0


def test_the_transcript_is_the_sessions_log(acme):
    begin(acme)
    end(acme, said("hello"))
    (event,) = acme.http.get("/api/v1/sessions/s1/events").json()["results"]
    assert (event["role"], event["content"]) == ("user", "hello")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "invalid JSON: EOF"),
        (b'{"messages": [', "invalid JSON: unexpected EOF"),
        (
            b'{"messages": "hi"}',
            "invalid JSON: json: cannot unmarshal string into Go struct field messages of type array",
        ),
        (
            b'{"messages": [{"role": "user", "content": 7}]}',
            "invalid JSON: json: cannot unmarshal number into Go struct field content of type string",
        ),
    ],
)
def test_a_bad_body_is_refused(acme, content, error):
    begin(acme)
    refused(acme.http.post("/sessions/s1/end", content=content), 400, error)
    assert "ended_at" not in get(acme, "/sessions/recent", project="orders")[0]


def test_sent_again_with_its_key_it_is_answered_again(acme):
    begin(acme)
    headers = {"Idempotency-Key": "end"}
    first, second = (
        acme.http.post("/sessions/s1/end", json={"messages": said("hi")}, headers=headers) for _ in range(2)
    )
    assert second.headers["Idempotency-Replayed"] == "true"
    assert first.content == second.content


def test_the_count_is_that_of_the_transcript_that_the_summary_tells_of(acme, globex):
    begin(acme)
    end(acme, said("one", "two", "three"))
    again = end(acme, said("four", "five")).json()
    assert (again["summary"].partition(".")[0], again["message_count"]) == ("Session with 2 messages", 2)
    assert end(acme).json() == again
    assert end(acme, said("one")).json() == again  # says nothing new, and leaves the summary
    (listed,) = get(acme, "/sessions/recent", project="orders")
    export = get(acme, "/export")
    assert (listed["message_count"], export["sessions"][0]["message_count"]) == (2, 2)
    globex.http.post("/import", json=export)
    assert get(globex, "/sessions/recent", project="orders") == [listed]


def test_a_session_that_goes_on_counts_its_turns_again(acme):
    begin(acme)
    end(acme, said("one", "two", "three"))
    end(acme, said("four"))
    acme.http.post("/api/v1/sessions/s1/turns", json={"turns": said("five")}).raise_for_status()
    assert get(acme, "/sessions/recent", project="orders")[0]["message_count"] == 5
    assert end(acme).json()["message_count"] == 5
