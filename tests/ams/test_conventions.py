"""How this protocol is spoken: forms of paths, moments, what is ignored, and what its client cannot parse."""

from datetime import UTC, datetime

import httpx
import pytest
from agent_memory_client.models import MemoryRecordResult, WorkingMemoryResponse

from tests.ams.asking import RECORDS, SESSION, message, put, save, search


def test_messages_without_a_moment_are_dated_with_a_warning(acme):
    answer = put(acme, "hello")
    assert "created_at" in answer.headers["X-Deprecation-Warning"]
    dated = acme.http.put(SESSION, json={"messages": [message("hi", created_at="2026-01-01T00:00:00")]})
    assert "X-Deprecation-Warning" not in dated.headers
    assert dated.json()["messages"][0]["created_at"] == "2026-01-01T00:00:00Z"


BOTH = [
    ("GET", "/v1/health", None),
    ("GET", "/v1/working-memory", None),
    ("PUT", "/v1/working-memory/s", {}),
    ("GET", "/v1/working-memory/s", None),
    ("POST", "/v1/working-memory/s/messages", {"messages": []}),
    ("POST", "/v1/long-term-memory", {"memories": [{"id": "r", "text": "tea"}]}),
    ("GET", "/v1/long-term-memory/r", None),
    ("PATCH", "/v1/long-term-memory/r", {"text": "green tea"}),
    ("POST", "/v1/long-term-memory/search", {}),
    ("POST", "/v1/long-term-memory/forget", {"policy": {}}),
    ("POST", "/v1/long-term-memory/compact", None),
    ("POST", "/v1/memory/prompt", {"query": "x", "session": {"session_id": "s"}}),
    ("POST", "/v1/summary-views", {"name": "v", "source": "long_term", "group_by": ["user_id"]}),
    ("GET", "/v1/summary-views", None),
    ("DELETE", "/v1/long-term-memory?memory_ids=r", None),
    ("DELETE", "/v1/working-memory/s", None),
]


def test_every_route_answers_200_with_and_without_the_slash(acme):
    """The client follows no redirects."""
    for method, path, body in BOTH:
        bare, _mark, query = path.partition("?")
        for form in (bare, f"{bare}/"):
            answer = acme.http.request(method, f"{form}?{query}", json=body, follow_redirects=False)
            assert (method, form, answer.status_code) == (method, form, 200), answer.text


def test_health_tells_the_time_in_milliseconds(server):
    now = httpx.get(f"{server}/v1/health").json()["now"]
    assert isinstance(now, int)
    assert datetime.fromtimestamp(now / 1_000, UTC).year >= 2026


def test_a_moment_without_a_zone_is_in_utc_and_all_are_told_with_z(acme):
    naive, told = "2026-01-02T03:04:05", "2026-01-02T03:04:05Z"
    moments = {"created_at": naive, "event_date": naive, "last_accessed": naive}
    record = {"id": "r", "text": "tea", **moments}
    save(acme, record)
    found = acme.http.get(f"{RECORDS}r").json()
    assert {name: found[name] for name in moments} == dict.fromkeys(moments, told)
    done = put(acme, "hello", memories=[record, {"id": "other", "text": "coffee"}]).json()
    assert {name: done["memories"][0][name] for name in moments} == dict.fromkeys(moments, told)
    of_session = search(acme, text="coffee", include_working_memory=True, include_long_term_memory=False)
    for holder in (done, *done["messages"], *done["memories"], found, *of_session["memories"]):
        for name in ("created_at", "updated_at", "last_accessed", "persisted_at", "event_date"):
            assert (holder.get(name) or told).endswith("Z"), (name, holder)
    at = {"event_date": {"between": [naive, naive]}}
    assert search(acme, **at)["total"] == 1


def test_what_is_unknown_is_ignored(acme):
    unknown = {"colour": "red"}
    body = {"messages": [message("hello") | unknown], "memories": [{"id": "m", "text": "x"} | unknown]}
    assert acme.http.put(f"{SESSION}?colour=red", json=body | unknown).status_code == 200
    assert acme.http.get(f"{SESSION}?colour=red").status_code == 200
    save(acme, {"id": "r", "text": "tea"} | unknown)
    assert search(acme, text="tea", **unknown)["total"] == 1
    assert "colour" not in acme.http.get(f"{RECORDS}r?colour=red").json()


def test_a_strategy_is_told_as_it_was_sent(acme):
    for config in ({}, {"max_summary_length": 3, "style": {"a": None}}, {"custom_prompt": None}):
        strategy = {"strategy": "summary", "config": config}
        assert (
            put(acme, "hello", long_term_memory_strategy=strategy).json()["long_term_memory_strategy"]
            == strategy
        )
        assert acme.http.get(SESSION).json()["long_term_memory_strategy"] == strategy


@pytest.mark.parametrize(("given", "searches"), [("yes", True), (1, True), ("off", False), (0, False)])
def test_whether_a_prompt_searches_may_be_said_in_any_word_for_it(acme, given, searches):
    save(acme, {"id": "r", "text": "tea"})
    body = {"query": "tea", "long_term_search": given, "session": {"session_id": "s"}}
    found = acme.http.post("/v1/memory/prompt", json=body).json()["long_term_memories"]
    assert (found is not None) is searches


def test_an_edit_leaves_what_is_null(acme):
    save(acme, {"id": "r", "text": "tea", "topics": ["drinks"], "user_id": "ana"})
    done = acme.http.patch(f"{RECORDS}r", json={"text": "green tea", "topics": None, "user_id": None}).json()
    assert (done["text"], done["topics"], done["user_id"]) == ("green tea", ["drinks"], "ana")


def test_deleting_tells_how_many(acme):
    save(acme, {"id": "a", "text": "tea"}, {"id": "b", "text": "a bicycle"})
    for path, count in ((f"{RECORDS}?memory_ids=a&memory_ids=b&memory_ids=c", 2), (RECORDS, 0)):
        assert acme.http.delete(path).json() == {"status": f"ok, deleted {count} memories"}
    for _time in range(2):
        assert acme.http.delete(SESSION).json() == {"status": "ok"}


def test_the_client_parses_what_came_in_by_any_other_way(acme):
    """It takes no null for a number, a moment, or a value of data."""
    acme.http.put("/working-memory/s", json={"data": {"a": None, "b": [None], "c": {"d": None}}})
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": None,
                   "name": "n"}, {"role": "tool", "content": "{}", "tool_call_id": "1"}]})  # fmt: skip
    found = WorkingMemoryResponse(**acme.http.get(SESSION).json())
    assert found.data == {"b": [None], "c": {"d": None}}
    stored = {"agent_id": "a", "conversation_id": "s", "summary": "They talked about tea."}
    assert acme.http.post("/episodic/store", json=stored).status_code in (200, 201)
    acme.http.post("/api/v1/episodes", json={"text": "Ana likes tea."})
    put(acme, "about tea", memories=[{"id": "m", "text": "tea"}])
    for mode in ("semantic", "keyword", "hybrid"):
        answer = search(acme, text="tea", search_mode=mode, include_working_memory=True)
        assert answer["total"] >= 4
        for one in answer["memories"]:
            assert isinstance(one["dist"], float)
            MemoryRecordResult(**one)
    for one in search(acme)["memories"]:
        assert (one["dist"], one["score"]) == (0.0, None)
