"""What held when, through the routes that write, list and recall."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.native.shapes import problem
from tests.native.test_episodes import URL, listed, store

TUESDAY, THURSDAY = "The deploy window is Tuesday.", "The deploy window is Thursday."
DAYS_AGO = [(datetime.now(UTC) - timedelta(days=n)).strftime("%Y-%m-%dT%H:%M:%SZ") for n in range(12)]


def state(member, text, **named):
    return store(member, text, **{"user_id": "u1", "memory_type": "semantic"} | named)


def recalled(member, **named):
    body = {"query": "When do we deploy?", "user_id": "u1", **named}
    answer = member.http.post("/api/v1/recall", json=body)
    assert answer.status_code == 200, answer.text
    return [one["text"] for one in answer.json()["results"]]


def test_the_answer_names_what_holds_no_more(acme):
    old = state(acme, TUESDAY, valid_from=DAYS_AGO[9])
    assert (old["supersedes"], old["valid_from"]) == ([], DAYS_AGO[9])
    new = state(acme, THURSDAY, valid_from=DAYS_AGO[3])
    assert new["supersedes"] == [old["id"]]
    (closed,) = [one for one in listed(acme, "history=true") if one["id"] == old["id"]]
    assert (closed["valid_to"], closed["superseded_by"]) == (DAYS_AGO[3], new["id"])


def test_lists_and_recall_tell_what_held_at_a_moment(acme):
    state(acme, TUESDAY, valid_from=DAYS_AGO[9])
    state(acme, THURSDAY, valid_from=DAYS_AGO[3])
    for moment, expected in (
        (DAYS_AGO[10], []), (DAYS_AGO[9], [TUESDAY]), (DAYS_AGO[5], [TUESDAY]), (DAYS_AGO[3], [THURSDAY]),
        (DAYS_AGO[0], [THURSDAY]),
    ):  # fmt: skip
        assert [one["text"] for one in listed(acme, f"as_of={moment}")] == expected
        assert recalled(acme, as_of=moment) == expected
    assert [one["text"] for one in listed(acme)] == recalled(acme) == [THURSDAY]


def test_a_started_session_is_told_what_holds(acme):
    state(acme, TUESDAY)
    state(acme, THURSDAY)
    for query in (None, "deploy window"):
        body = {"user_id": "u1", "query": query}
        started = acme.http.post("/api/v1/sessions/s1/start", json=body).json()
        assert [one["text"] for one in started["episodes"]] == [THURSDAY]


def test_a_plan_has_its_date_in_the_future(acme):
    assert store(acme, "Kim flies to Oslo.", event_date="2199-01-01T00:00:00Z")["event_date"].startswith(
        "2199"
    )


def test_a_date_that_names_no_time_zone_is_refused(acme):
    naive = {"event_date": "2026-01-01T00:00:00"}
    problem(acme.http.post(URL, json={"text": "Kim flew to Oslo.", **naive}), 422, "event_date")
    kept = store(acme, "Kim flew to Rome.", event_date="2026-01-01T00:00:00+01:00")
    assert kept["event_date"] == "2025-12-31T23:00:00Z"
    problem(acme.http.patch(f"{URL}/{kept['id']}", json=naive), 422, "event_date")


# As docs/episodes.md tells.
CONTRADICTIONS = [
    ("The deploy window is Tuesday", "The deploy window is Thursday"),
    ("Budget is 40,000 EUR", "Budget is 55,000 EUR"),
    ("Ana lives in Paris", "Ana moved to Berlin"),
    ("The flag is enabled", "The flag is disabled"),
    ("Ana prefers email", "Ana no longer prefers email"),
    ("Ana drinks coffee", "Ana stopped drinking coffee"),
    ("Ana is the project lead", "Bob is the project lead"),
]
BOTH = [
    ("Ana likes tea", "Bob likes tea"),
    ("Met Ana on Monday", "Met Ana on Tuesday"),
    ("Ana likes tea", "Ana likes coffee"),
    ("The deploy window is Tuesday", "The deploy window is Tuesday at 10:00"),
]


@pytest.mark.parametrize(
    ("pairs", "closes"), [(CONTRADICTIONS, True), (BOTH, False)], ids=["contradictions", "both hold"]
)
def test_every_pair_of_the_documentation_is_told_apart(acme, pairs, closes):
    for number, (old, new) in enumerate(pairs):
        user = f"{closes}-{number}"  # no pair meets another
        first, second = state(acme, old, user_id=user), state(acme, new, user_id=user)
        assert second["supersedes"] == ([first["id"]] if closes else []), (old, new)


def test_a_pair_that_is_little_alike_is_told_among_many_statements(acme):
    for topic in ("rent", "fuel", "travel", "food", "books", "tools", "music", "sport", "heating", "water"):
        state(acme, f"The budget for {topic} is approved by Kim")
    lead = state(acme, "Ana is the project lead")
    assert state(acme, "Bob is the project lead")["supersedes"] == [lead["id"]]


@pytest.mark.parametrize("moment", ["2199-01-01T00:00:00Z", "2026-01-01T00:00:00", "soon"])
def test_what_cannot_have_begun_is_refused(acme, moment):
    problem(acme.http.post(URL, json={"text": TUESDAY, "valid_from": moment}), 422, "valid_from")


@pytest.mark.parametrize(
    "moment", ["2026-01-01T00:00:00", "soon", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00%2B14:00"]
)
def test_a_moment_that_is_none_or_names_no_time_zone_is_refused(acme, moment):
    problem(acme.http.get(f"{URL}?as_of={moment}"), 422, "as_of")
    body = {"query": "x", "user_id": "u1", "as_of": moment.replace("%2B", "+")}
    problem(acme.http.post("/api/v1/recall", json=body), 422, "as_of")


def test_a_moment_and_all_moments_exclude_each_other(acme):
    problem(acme.http.get(f"{URL}?as_of={DAYS_AGO[1]}&history=true"), 422, "history")
    problem(acme.http.get(f"{URL}?history=perhaps"), 422, "history")
