import pytest

from tests.native.shapes import problem

URL = "/api/v1/sessions/s/events"


@pytest.mark.parametrize(
    "content", [None, True, 0, -1.5, 1e16, "", "text", [], [1, {"a": None}], {}, {"ä": "😀"}]
)
def test_content_is_any_json(acme, content):
    answer = acme.http.post(URL, json={"event_type": "note", "content": content})
    assert (answer.status_code, answer.json()) == (200, {"accepted": 1, "duplicates": 0, "seq": [1]})
    event = acme.http.get(URL).json()["results"][0]
    assert event["content"] == content
    assert (event["event_type"], event["role"], event["metadata"]) == ("note", None, {})


def test_one_or_a_list(acme):
    items = [{"event_type": "note", "content": n, "event_id": f"e{n}"} for n in range(3)]
    assert acme.http.post(URL, json=items[0]).json()["seq"] == [1]
    assert acme.http.post(URL, json=items).json() == {"accepted": 2, "duplicates": 1, "seq": [2, 3]}
    assert [one["event_id"] for one in acme.http.get(URL).json()["results"]] == ["e0", "e1", "e2"]


def test_time_and_metadata_come_back(acme):
    item = {
        "event_type": "note",
        "content": 1,
        "timestamp": "2026-02-03T04:05:06.789Z",
        "metadata": {"k": [1]},
    }
    acme.http.post(URL, json=item)
    event = acme.http.get(URL).json()["results"][0]
    assert (event["timestamp"], event["metadata"]) == ("2026-02-03T04:05:06.789000Z", {"k": [1]})


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00", "2099-01-01T00:00:00Z", "soon"])
def test_a_moment_that_has_not_been_or_names_no_time_zone_is_refused(acme, moment):
    event = {"event_type": "note", "content": 1}
    problem(acme.http.post(URL, json={**event, "timestamp": moment}), 422, "timestamp")
    problem(acme.http.post(URL, json=[event, {**event, "timestamp": moment}]), 422, "events.1.timestamp")
    problem(acme.http.get(URL), 404)


def test_filters_by_type(acme):
    for kind in ("a", "b", "c", "a"):
        acme.http.post(URL, json={"event_type": kind, "content": kind})

    def found(query):
        return [one["seq"] for one in acme.http.get(f"{URL}?{query}").json()["results"]]

    assert found("event_types=a") == [1, 4]
    assert found("event_types=a,c") == found("event_types=a&event_types=c") == [1, 3, 4]
    assert found("event_types=z") == []


def test_pages_follow_the_cursor_to_the_end(acme):
    acme.http.post(URL, json=[{"event_type": "ab"[n % 2], "content": n} for n in range(9)])
    seen, cursor = [], "0"
    while cursor is not None:
        page = acme.http.get(f"{URL}?event_types=a&limit=2&cursor={cursor}").json()
        seen += [one["content"] for one in page["results"]]
        cursor = page["next"]
    assert seen == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "cursor=x", "cursor=-1", "event_types=", "limit="])
def test_what_is_not_valid_in_the_query_is_refused(acme, query):
    acme.http.post(URL, json={"event_type": "a", "content": 1})
    problem(acme.http.get(f"{URL}?{query}"), 422)


@pytest.mark.parametrize("body", [
    {"event_type": "a"}, {"content": 1}, {"event_type": "", "content": 1},
    {"event_type": "a" * 65, "content": 1},
    {"event_type": "a", "content": 1, "kind": "b"}, [], [{"event_type": "a"}], [7], None,
])  # fmt: skip
def test_what_is_not_valid_is_refused(acme, body):
    problem(acme.http.post(URL, json=body), 422)


def test_an_unknown_session_has_no_log(acme, globex):
    acme.http.post(URL, json={"event_type": "a", "content": 1})
    problem(globex.http.get(URL), 404)
    problem(acme.http.get("/api/v1/sessions/t/events"), 404)


def test_turns_stand_in_the_log_among_the_other_events(acme):
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": "a"}]})
    acme.http.post(URL, json={"event_type": "click", "content": {"x": 1}})
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": [{"role": "assistant", "content": "b"}]})
    log = acme.http.get(URL).json()["results"]
    assert [(one["seq"], one["event_type"], one["role"]) for one in log] == [
        (1, "user_message", "user"), (2, "click", None), (3, "agent_response", "assistant")]  # fmt: skip


def test_what_somebody_said_is_a_turn_also_as_an_event(acme):
    acme.http.post(URL, json=[
        {"event_type": "user_message", "content": "When does it open?"},
        {"event_type": "page_view", "content": "/hours"},
        {"event_type": "agent_response", "content": "At eleven."},
        {"event_type": "user_message", "content": {"not": "text"}},
    ])  # fmt: skip
    window = acme.http.get("/api/v1/sessions/s/window").json()["messages"]
    assert window == [
        {"role": "user", "content": "When does it open?"},
        {"role": "assistant", "content": "At eleven."},
    ]
