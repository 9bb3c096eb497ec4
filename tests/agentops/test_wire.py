"""What holds for every route of the dialect."""

import json

import httpx
import pytest

from tests.agentops.shapes import NOTE, get, read, refused, save
from tests.api.dialect_calls import AGENTOPS

each = pytest.mark.parametrize("call", AGENTOPS, ids=lambda call: call.name)
WRITES = [call for call in AGENTOPS if call.body is not None]
each_write = pytest.mark.parametrize("call", WRITES, ids=lambda call: call.name)


@each
def test_with_and_without_a_slash_at_the_end(acme, call):
    acme.http.post("/sessions", json={"id": "s", "project": "apollo"})
    request = call.request(acme)
    request.url = request.url.copy_with(path=request.url.path + "/")
    assert acme.http.send(request).status_code == call.send(acme).status_code < 300


@each
def test_json_ends_a_line(acme, call):
    answer = call.send(acme)
    if answer.content:
        assert answer.headers["content-type"] == "application/json"
        assert answer.content.endswith(b"\n")


@each
def test_head_is_answered_where_get_is(acme, call):
    if call.method == "GET":
        head = acme.http.head(call.request(acme).url)
        assert (head.status_code, head.content) == (200, b"")


def test_what_html_and_scripts_could_take_for_theirs_is_escaped(acme):
    number = save(acme, content="<b>&</b>\u2028\u2029 é💡")["id"]
    text = acme.http.get(f"/observations/{number}").text
    assert "\\u003cb\\u003e\\u0026\\u003c/b\\u003e\\u2028\\u2029 é💡" in text
    assert "<b>&</b>" in acme.http.get(f"/observations/{number}").json()["content"]
    assert "\\u003cb\\u003e" in acme.http.get("/export").text


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/x",
        "/sessions/x/y",
        "/observations/1/x",
        "/search/x",
        "/context/y/z",
        "/import/x",
        "/stats/x/",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_path_is_404_in_plain_text(acme, path, method):
    answer = acme.http.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert answer.text == "404 page not found\n"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/sessions", "POST"), ("PUT", "/observations", "POST"), ("POST", "/search", "GET"),
     ("DELETE", "/stats", "GET"), ("POST", "/observations/1", "PATCH"), ("GET", "/import", "POST"),
     ("GET", "/sessions/x/end", "POST")],
)  # fmt: skip
def test_another_method_is_405_in_plain_text(acme, method, path, allowed):
    answer = acme.http.request(method, path)
    assert (answer.status_code, answer.text) == (405, "Method Not Allowed\n")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert allowed in answer.headers["allow"].split(", ")


@each_write
def test_an_empty_body_is_refused(acme, call):
    request = call.request(acme)
    for content in (b"", b" \n\t"):
        answer = acme.http.request(call.method, request.url, content=content)
        refused(answer, 400, "invalid JSON: EOF")


@each_write
def test_what_follows_the_first_value_and_the_content_type_do_not_matter(acme, call):
    request = call.request(acme)
    content = request.content + b' {"other": 1} and more'
    headers = {"Content-Type": "text/html"}
    assert acme.http.request(call.method, request.url, content=content, headers=headers).status_code < 300


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"[1]", "invalid JSON: json: cannot unmarshal array into Go value of type struct"),
        (b'"a"', "invalid JSON: json: cannot unmarshal string into Go value of type struct"),
        (b'{"type": "a', "invalid JSON: unexpected EOF"),
        (b'{"type": "a"', "invalid JSON: unexpected EOF"),
        (b"hello", "invalid JSON: invalid character 'h' (Expecting value: char 0)"),
    ],
)
def test_a_body_that_is_no_object_is_refused(acme, content, error):
    refused(acme.http.post("/observations", content=content), 400, error)


def test_a_body_that_is_too_large_is_413(acme):
    refused(acme.http.post("/observations", json=NOTE | {"other": "x" * 1_100_000}), 413)


def test_without_a_key_or_its_scope_the_error_has_the_dialects_shape(acme, server):
    refused(httpx.get(f"{server}/stats"), 401)
    reader = acme.with_key(scopes=("read",))
    refused(reader.http.post("/observations", json=NOTE), 403, "This needs a key with scope write.")
    assert reader.http.get("/stats").status_code == 200
    refused(acme.with_key(scopes=("write",)).http.get("/stats"), 403)


def test_ids_in_a_path_have_to_be_utf_8(acme):
    refused(acme.http.post("/sessions/%FF/end", json={}), 400, "path: Must be UTF-8.")


def test_health_is_as_the_original_has_it(server):
    assert httpx.get(f"{server}/health").json()["status"] == "ok"


def test_a_memory_of_this_dialect_is_read_through_the_others(acme):
    number = save(acme)["id"]
    native = acme.http.get(f"/api/v1/observations/{number}").json()
    assert (native["content"], native["project"]) == (NOTE["content"], "orders")
    assert [one["session_id"] for one in acme.http.get("/api/v1/sessions").json()["results"]] == ["s1"]
    assert get(acme, "/stats")["projects"] == ["orders"]


BAD = [b"\\u0000", b"\\ud800", b"\\uDFFF", b"\xff"]


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_stored_of_a_text_becomes_the_replacement_character(acme, bad):
    body = json.dumps(NOTE | {"title": "a@b", "content": "c@d", "tags": ["e@f"]}).encode()
    number = acme.http.post("/observations", content=body.replace(b"@", bad)).json()["id"]
    stored = read(acme, number)
    assert (stored["title"], stored["content"], stored["tags"]) == ("a\ufffdb", "c\ufffdd", ["e\ufffdf"])
    changed = acme.http.patch(f"/observations/{number}", content=b'{"Content": "x@"}'.replace(b"@", bad))
    assert changed.json()["content"] == "x\ufffd"


@pytest.mark.parametrize("bad", BAD)
def test_a_session_ends_though_its_transcript_holds_binary_output(acme, bad):
    acme.http.post("/sessions", json={"id": "s1", "project": "orders"})
    body = b'{"messages": [{"role": "user", "content": "ls@"},'
    body += b' {"role": "tool@", "content": "@\xf0\x9f\x98\x80"}]}'
    answer = acme.http.post("/sessions/s1/end", content=body.replace(b"@", bad))
    assert answer.status_code == 200, answer.text
    events = acme.http.get("/api/v1/sessions/s1/events").json()["results"]
    assert sorted(one["content"] for one in events) == ["ls\ufffd", "\ufffd\U0001f600"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", ["project", "session_id", "topic_key", "type", "scope"])
def test_a_name_that_cannot_be_stored_is_refused(acme, bad, name):
    body = json.dumps(NOTE | {name: "a@b"}).encode().replace(b"@", bad)
    refused(acme.http.post("/observations", content=body), 400)


def test_a_question_with_nul_finds_what_it_would_without(acme):
    number = save(acme)["id"]
    (hit,) = get(acme, "/search", q="pool\x00", project="orders")
    assert hit["id"] == number
    told = get(acme, "/context", query="pool\x00", project="orders")["recent_observations"]
    assert [one["id"] for one in told] == [number]
    refused(acme.http.get("/search", params={"q": "pool", "project": "a\x00"}), 400)
