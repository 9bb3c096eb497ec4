"""Who listens is told of what is committed from then on, or from where it left off."""

import pytest

from tests.native.shapes import problem
from tests.streaming.server import PATH, Listening, append, settle


def test_an_event_is_told_as_the_log_shows_it_with_whose_it_is(streams, acme):
    listening = Listening(streams, acme)
    append(acme, "s", {"ä": ["\u2028", None]}, kind="odd kind", user_id="alice")
    (frame,) = listening.heard(1)
    owner = {"session_id": "s", "namespace": "", "user_id": "alice", "agent_id": None, "project": None}
    (logged,) = acme.http.get("/api/v1/sessions/s/events").json()["results"]
    assert frame == logged | owner
    assert listening.told.kinds == ["odd kind"]
    assert listening.response.headers["content-type"].startswith("text/event-stream")
    assert listening.response.headers["x-request-id"]
    listening.leave()


def test_without_a_cursor_the_past_is_not_told_and_from_zero_all_of_it_is(streams, acme):
    append(acme, "s", *range(250))
    settle()
    now, ever = Listening(streams, acme), Listening(streams, acme, after="0")
    append(acme, "s", "new")
    assert [one["content"] for one in now.heard(1)] == ["new"]
    assert [one["seq"] for one in ever.heard(251)] == list(range(1, 252))
    now.leave()
    ever.leave()


def test_who_was_told_nothing_yet_resumes_behind_where_it_began(streams, acme):
    first = Listening(streams, acme)
    first.leave()
    append(acme, "s", "meanwhile")
    second = Listening(streams, acme, first.told)
    assert [one["content"] for one in second.heard(1)] == ["meanwhile"]
    second.leave()


def test_the_header_counts_more_than_the_address_that_is_sent_again(streams, acme):
    append(acme, "s", 1, 2, 3)
    first = Listening(streams, acme, after="0")
    first.heard(3)
    first.leave()
    second = Listening(streams, acme, first.told, after="0")
    append(acme, "s", 4)
    second.heard(4)
    assert first.told.numbers("s") == [1, 2, 3, 4]
    second.leave()


def test_what_a_listener_names_is_all_it_is_told(streams, acme):
    by_session = Listening(streams, acme, session_id="s2")
    by_type = Listening(streams, acme, event_types="b,c")
    by_user = Listening(streams, acme, user_id="alice")
    append(acme, "s1", 1, kind="a")
    append(acme, "s2", 2, kind="b", user_id="alice")
    append(acme, "s1", 3, kind="c")
    append(acme, "s2", 4, kind="a", user_id="alice")
    replayed = Listening(streams, acme, after="0", session_id="s2", event_types="b")
    for listening, expected in {by_session: [2, 4], by_type: [2, 3], by_user: [2, 4], replayed: [2]}.items():
        assert [one["content"] for one in listening.heard(len(expected))] == expected
        listening.leave()


def test_many_listeners_of_one_tenant_are_told_the_same(streams, acme):
    crowd = [Listening(streams, acme) for _ in range(20)]
    append(acme, "s", *range(30))
    for listening in crowd:
        assert [one["content"] for one in listening.heard(30)] == list(range(30))
        listening.leave()


@pytest.mark.parametrize(
    "cursor", ["x", "-1", "1-2", "0-0-0", "1e3", "٣", "9" * 30, f"5-{'a' * 32}-{'9' * 19}", f"5-{'g' * 32}-1"]
)
def test_what_is_no_cursor_is_a_problem_on_both_ports(streams, acme, cursor):
    for url in (f"{streams.url}{PATH}", PATH):
        problem(acme.http.get(url, params={"after": cursor}), 422, "after")
        if cursor.isascii():  # headers are
            problem(acme.http.get(url, headers={"Last-Event-ID": cursor}), 422, "after")


def test_a_cursor_of_the_future_is_another_databases(streams, acme):
    for url in (f"{streams.url}{PATH}", PATH):
        problem(acme.http.get(url, params={"after": str(2**60)}), 422, "after")


def test_withdrawn_events_are_not_told(streams, acme):
    url = "/v1/working-memory/whole"
    messages = [{"id": name, "role": "user", "content": name} for name in ("kept", "left out")]
    acme.http.put(url, json={"session_id": "whole", "messages": messages}).raise_for_status()
    acme.http.put(url, json={"session_id": "whole", "messages": messages[:1]}).raise_for_status()
    append(acme, "other", "last")
    listening = Listening(streams, acme, after="0")
    assert [one["content"] for one in listening.heard(2)] == ["kept", "last"]
    listening.leave()


def test_other_addresses_and_methods_are_answered_as_problems(streams, acme):
    problem(acme.http.get(f"{streams.url}/api/v1/sessions"), 404)
    problem(acme.http.post(f"{streams.url}{PATH}"), 405)
    problem(acme.http.get(f"{streams.url}{PATH}?usr=x"), 422, "usr")
    assert acme.http.head(f"{streams.url}{PATH}").status_code == 200
