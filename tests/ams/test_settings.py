"""What an operator may have otherwise."""

import json

SESSION = "/v1/working-memory/s"
BODY = {"messages": [{"role": "user", "content": "hello"}]}


def test_long_term_memory_may_be_switched_off(browser, settings):
    settings.LONG_TERM_MEMORY = False
    for method, path, body in (
        ("POST", "/v1/long-term-memory/", {"memories": []}),
        ("DELETE", "/v1/long-term-memory", None),
        ("POST", "/v1/long-term-memory/search", {"text": "x"}),
        ("POST", "/v1/long-term-memory/forget", {"policy": {}}),
        ("POST", "/v1/long-term-memory/compact", None),
        ("GET", "/v1/long-term-memory/r1", None),
        ("PATCH", "/v1/long-term-memory/r1", {"text": "x"}),
        ("POST", "/v1/memory/prompt", {"query": "x", "long_term_search": True}),
    ):
        answer = browser.generic(method, path, data=_json(body), content_type="application/json")
        assert (answer.status_code, answer.json()) == (400, {"detail": "Long-term memory is disabled"})
    assert browser.put(SESSION, BODY, content_type="application/json").status_code == 200
    prompt = browser.post(
        "/v1/memory/prompt", {"query": "x", "session": {"session_id": "s"}}, content_type="application/json"
    )
    assert prompt.status_code == 200
    assert prompt.json()["long_term_memories"] is None


def test_sessions_may_be_kept_for_good(browser, settings):
    settings.AMS_TTL_SECONDS = 0
    assert browser.put(SESSION, BODY, content_type="application/json").json()["ttl_seconds"] is None


def test_clocks_may_differ_more(browser, settings):
    body = {"messages": [{"role": "user", "content": "hello", "created_at": "2999-01-01T00:00:00Z"}]}
    assert browser.put(SESSION, body, content_type="application/json").status_code == 422
    record = {"memories": [{"text": "hello", "created_at": "2999-01-01T00:00:00Z"}]}
    assert browser.post("/v1/long-term-memory/", record, content_type="application/json").status_code == 422
    settings.MAX_FUTURE_TIMESTAMP_SECONDS = 10**11
    assert browser.put(SESSION, body, content_type="application/json").status_code == 200
    assert browser.post("/v1/long-term-memory/", record, content_type="application/json").status_code == 200


def _json(body: object) -> str:
    return "" if body is None else json.dumps(body)
