"""Errors in the shapes of FastAPI."""

import re

import httpx
import pytest

from api.ams import working_memory

SESSION = "/v1/working-memory/s"
RECORDS = "/v1/long-term-memory/"
SEARCH = "/v1/long-term-memory/search"
PROMPT = "/v1/memory/prompt"


def refused(answer: httpx.Response) -> dict[str, object]:
    assert answer.status_code == 422, answer.text
    (detail,) = answer.json()["detail"]
    return detail


def test_nobody_is_told_to_send_a_key(server):
    answer = httpx.get(server + SESSION)
    assert (answer.status_code, answer.json()) == (401, {"detail": "Missing authorization header"})
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}])
def test_a_wrong_key_is_told_without_the_way_in(server, headers):
    answer = httpx.get(server + SESSION, headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"detail": "Invalid token"})
    assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/health", "/v1/health/"])
def test_health_needs_no_key(server, path):
    answer = httpx.get(server + path)
    assert answer.status_code == 200
    assert isinstance(answer.json()["now"], int)


def test_either_header_carries_the_key(acme):
    for headers in ({"Authorization": f"Bearer {acme.key}"}, {"X-API-Key": acme.key}):
        answer = httpx.get(f"{acme.http.base_url}/v1/working-memory/", headers=headers)
        assert answer.json() == {"sessions": [], "total": 0}


def test_a_method_that_is_missing(acme):
    answer = acme.http.post(SESSION, json={})
    assert (answer.status_code, answer.json()) == (405, {"detail": "Method Not Allowed"})


def test_a_body_that_is_no_json(acme):
    detail = refused(acme.http.put(SESSION, content=b'{"messages": [}'))
    assert detail == {
        "type": "json_invalid",
        "loc": ["body", 14],
        "msg": "JSON decode error",
        "input": {},
        "ctx": {"error": "Expecting value"},
    }


def test_a_body_that_is_missing(acme):
    assert refused(acme.http.put(SESSION)) == {
        "type": "missing",
        "loc": ["body"],
        "msg": "Field required",
        "input": None,
    }


def test_a_field_that_is_missing(acme):
    record = {"id": "r1"}
    assert refused(acme.http.post(RECORDS, json={"memories": [record]})) == {
        "type": "missing",
        "loc": ["body", "memories", 0, "text"],
        "msg": "Field required",
        "input": record,
    }


def test_a_query_parameter_out_of_range(acme):
    assert refused(acme.http.get("/v1/working-memory/?limit=101")) == {
        "type": "less_than_equal",
        "loc": ["query", "limit"],
        "msg": "Input should be less than or equal to 100",
        "input": "101",
        "ctx": {"le": 100},
    }


def test_a_moment_in_the_future(acme):
    message = {"role": "user", "content": "hi", "created_at": "2999-01-01T00:00:00Z"}
    detail = refused(acme.http.put(SESSION, json={"messages": [message]}))
    assert (detail["type"], detail["loc"]) == ("value_error", ["body", "messages", 0])
    assert detail["msg"].startswith("Value error, created_at cannot be more than 300 seconds in the future.")
    assert detail["ctx"] == {"error": {}}


def test_text_that_cannot_be_stored(acme):
    detail = refused(acme.http.put(SESSION, content=b'{"context": "\\u0000"}'))
    assert (detail["loc"], detail["type"]) == (["body"], "value_error")


@pytest.mark.parametrize("record", [{"id": "", "text": "x"}, {"id": "r1", "text": ""}])
def test_an_empty_id_or_text_of_a_record(acme, record):
    for path, body in (
        (RECORDS, {"memories": [record]}),
        (SESSION, {"memories": [record]}),
    ):
        answer = acme.http.request("POST" if path == RECORDS else "PUT", path, json=body)
        assert refused(answer)["type"] == "string_too_short"


def test_a_session_or_record_that_there_is_not(acme):
    answer = acme.http.get("/v1/working-memory/a%2Fb")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Session a/b not found"})
    answer = acme.http.get("/v1/long-term-memory/a%2Fb")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Memory with ID a/b not found"})


@pytest.mark.parametrize("body", [{}, {"text": None}, {"colour": "red"}])
def test_an_edit_of_nothing(acme, body):
    answer = acme.http.patch("/v1/long-term-memory/r1", json=body)
    assert (answer.status_code, answer.json()) == (400, {"detail": "No fields provided for update"})


def test_another_user_than_the_keys(acme):
    own = acme.with_key(user_id="ana")
    for method, path, body in (
        ("GET", f"{SESSION}?user_id=bob", None),
        ("PUT", SESSION, {"user_id": "bob"}),
        ("PUT", f"{SESSION}?user_id=bob", {}),
        ("POST", RECORDS, {"memories": [{"text": "x", "user_id": "bob"}]}),
        ("POST", "/v1/long-term-memory/forget?user_id=bob", {"policy": {"budget": 0}}),
    ):
        answer = own.http.request(method, path, json=body)
        assert (answer.status_code, answer.json()) == (403, {"detail": "This key is bound to another user."})


def test_a_threshold_beside_words(acme):
    for mode in ("keyword", "hybrid"):
        body = {"text": "tea", "search_mode": mode, "distance_threshold": 0.5}
        answer = acme.http.post("/v1/long-term-memory/search", json=body)
        assert (answer.status_code, answer.json()) == (
            400,
            {"detail": "distance_threshold is only supported for semantic search mode"},
        )


def test_of_very_many_errors_some_are_told(acme):
    answer = acme.http.put(SESSION, json={"messages": [1] * 5_000})
    assert (answer.status_code, len(answer.json()["detail"])) == (422, 100)


@pytest.mark.parametrize("path", ["/v1/nope", "/v1/", "/v1/memory/nope"])
def test_a_route_that_there_is_not(acme, path):
    answer = acme.http.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_a_fault_is_told_as_plain_text(browser, monkeypatch):
    def fail(**_options: object) -> None:
        raise RuntimeError("what only the log tells")

    monkeypatch.setattr(working_memory, "list_workspaces", fail)
    browser.raise_request_exception = False
    answer = browser.get("/v1/working-memory/")
    assert (answer.status_code, answer.content) == (500, b"Internal Server Error")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("field", ["bogus", "userid"])
def test_a_nested_filter_of_no_field(acme, field):
    bodies = [
        (SEARCH, {"text": "", "filters": {field: {"eq": "ana"}}}, ["filters", field]),
        (PROMPT, {"query": "x", "long_term_search": {"filters": {field: {"eq": "ana"}}}},
         ["long_term_search", "filters", field]),
    ]  # fmt: skip
    for path, body, where in bodies:
        assert refused(acme.http.post(path, json=body)) == {
            "type": "extra_forbidden",
            "loc": ["body", *where],
            "msg": f"Unknown filter field '{field}'",
            "input": {"eq": "ana"},
            "ctx": {"name": field},
        }


def test_a_filter_of_nothing_but_null(acme):
    for body in ({"user_id": {"eq": None}}, {"filters": {"user_id": {"eq": None}}}):
        detail = refused(acme.http.post(SEARCH, json={"text": "", **body}))
        assert detail["loc"][-1] == "user_id"
        assert detail["msg"] == "Value error, eq cannot be null"


def test_an_unknown_operator_stands_in_the_message(acme):
    search = {"topics": {"like": "tea"}}
    view = {"source": "long_term", "group_by": [], "filters": search}
    prompt = {"query": "x", "long_term_search": search}
    for path, body, where in (
        (SEARCH, search, ["topics", "like"]),
        (PROMPT, prompt, ["long_term_search", "topics", "like"]),
        ("/v1/summary-views", view, ["filters", "topics", "like"]),
    ):
        detail = refused(acme.http.post(path, json=body))
        assert (detail["loc"], detail["msg"]) == (["body", *where], "Unknown filter operator 'like'")


@pytest.mark.parametrize(
    ("search", "where", "kind"),
    [
        ({"limit": 0}, ["limit"], "greater_than_equal"),
        ({"search_mode": "best"}, ["search_mode"], "literal_error"),
        ("maybe", [], "bool_parsing"),
        (["x"], [], "bool_type"),
    ],
)
def test_what_is_wrong_with_the_search_of_a_prompt(acme, search, where, kind):
    detail = refused(acme.http.post(PROMPT, json={"query": "x", "long_term_search": search}))
    assert (detail["loc"], detail["type"]) == (["body", "long_term_search", *where], kind)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"max_summary_length": -5}, "greater_than_equal"),
        ({"max_summary_length": 0}, "greater_than_equal"),
        ({"max_summary_length": "long"}, "int_type"),
        ({"max_summary_length": True}, "int_type"),
        ({"custom_prompt": 5}, "string_type"),
    ],
)
def test_a_strategy_that_cannot_be_meant(acme, config, kind):
    strategy = {"strategy": "summary", "config": config}
    detail = refused(acme.http.put(SESSION, json={"long_term_memory_strategy": strategy}))
    where = ["body", "long_term_memory_strategy", "config", *config]
    assert (detail["loc"], detail["type"], [detail["input"]]) == (where, kind, list(config.values()))


def test_a_message_without_text_is_told_by_the_id_that_it_would_have(acme):
    for method, path in (("PUT", SESSION), ("POST", f"{SESSION}/messages")):
        body = {"messages": [{"role": "user", "content": " "}]}
        answer = acme.http.request(method, path, json=body)
        assert answer.status_code == 400
        assert re.fullmatch(
            r"Message content cannot be empty \(message ID: [0-9A-Z]{26}\)", answer.json()["detail"]
        )
