"""Whatever a client sends: a clear 4xx in the dialect's shape, never a 500, and nothing half-written."""

import copy
import json
import re
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

import httpx
import pytest
from django_redis import get_redis_connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.call import Call
from tests.api.calls import CALLS, WITH_BODY
from tests.api.refusals import assert_refusal
from tests.conftest import Member

NOT_JSON = {
    "a word": b"hello",
    "open object": b"{",
    "open string": b'{"a": "b',
    "two values": b"{} {}",
    "comma": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "NaN": b'{"data": {"a": NaN}}',
    "Infinity": b'{"data": {"a": -Infinity}}',
    "1e999": b'{"data": {"a": 1e999}}',
    "5000 digits": b'{"data": {"a": ' + b"9" * 5_000 + b"}}",
    "0xff": b'{"data": {"a": 0xff}}',
    "raw newline": b'{"data": {"a": "x\ny"}}',
    "raw NUL": b'{"data": {"a": "x\x00y"}}',
    "only spaces": b"  \n",
    "form": b"data=1&user_id=bob",
    "multipart": b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
    "xml": b"<a/>",
    "invalid UTF-8": b'{"a": "\xff"}',
    "overlong UTF-8": b'{"a": "\xc0\xaf"}',
    "surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "UTF-16": '{"a": "é"}'.encode("utf-16"),
    "UTF-16 without mark": '{"a": "b"}'.encode("utf-16-le"),
    "UTF-32": '{"a": 1}'.encode("utf-32"),
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "brackets": b"[" * 500_000,
    "braces": b'{"a":' * 100_000,
    "closed brackets": b'{"data": ' + b"[" * 900 + b"]" * 900 + b"}",
    "101 levels": b'{"data": ' + b"[" * 101 + b"]" * 101 + b"}",
    "NUL in a string": b'{"a": "x\\u0000y"}',
    "NUL in a name": b'{"x\\u0000y": 1}',
    "NUL deep inside": b'{"data": {"a": [{"b": "\\u0000"}]}}',
    "high surrogate": b'{"a": "\\ud800"}',
    "low surrogate": b'{"a": "\\uDFFF"}',
    "surrogates the wrong way round": b'{"a": "\\udc00\\ud800"}',
    "surrogate in a name": b'{"\\ud800": 1}',
}
WRONG_ROOT = [b"3", b"-1.5", b'"text"', b"true", b"false", b'["a"]', b"[[]]", b"[null]", b"[]"]
LONG = "x" * 1_100
WRONG_VALUES = [
    None, True, False, 0, -1, 1.5, 10**400, -(10**30), 1e308, "", " ", LONG, "null", "1e999", [], {}, [[]],
    [{}], [None], [1], [""], {"": ""}, {"a": {"b": 1}}, "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T25:00:00Z",
    "2026-13-01T00:00:00Z", "-0001-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "now", "1767225600",
]  # fmt: skip
DATES = [
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-01-01T00:00:00",
    "2025-06-01T00:00:00+05:30", "1900-01-01T00:00:00-00:01", "2026-01-01T00:00:00.123456789Z",
]  # fmt: skip
NAIVE, FUTURE = "2026-01-01T00:00:00", "9999-12-31T23:59:59.999999Z"
# Natively: what must name its time zone, and what has happened already.
REFUSED: dict[str, tuple[str, ...]] = {
    "event_date": (NAIVE,),
    "created_at": (NAIVE, FUTURE),
    "timestamp": (NAIVE, FUTURE),
}
REFUSED_BY_AMS = {(kind, 0, "created_at"): (FUTURE,) for kind in ("messages", "memories")}
# Members whose text is mended instead, since tools put what is binary into it.
MENDED = {"content", "role", "tags", "title"}
MENDED_BY_HOOKS = {"args", "error", "output"}
UNSTORABLE = ["a\x00b", "\ud800", "\udfffx"]
by_name = pytest.mark.parametrize("call", WITH_BODY, ids=lambda call: call.name)
of_fields = pytest.mark.parametrize(
    "call", [call for call in WITH_BODY if not call.takes_any_json], ids=lambda call: call.name
)


def post(member: Member, call: Call, content: Any, session: str = "bad", **headers: str) -> httpx.Response:
    return call.by(member).http.request(call.method, call.url(session), content=content, headers=headers)


def dump(body: Any) -> bytes:
    """As ASCII: what cannot be encoded stands as an escape, as a careless client would send it."""
    return json.dumps(body).encode()


def assert_clean(answer: httpx.Response, call: Call, sent: object) -> None:
    """Taken, or refused in the dialect's shape; 404, 409 and 423 tell of sessions."""
    if not answer.is_success:
        # An empty message, or a threshold beside another mode; a session that somebody restricted has, too.
        of_dialect = (400,) if call.is_ams else (423,) if call.is_kaos else ()
        assert_refusal(answer, call, *of_dialect, 403, 404, 409, 413, 422, sent=sent)


def assert_nothing_written(member: Member) -> None:
    for path in ("/api/v1/sessions", "/api/v1/episodes"):
        assert member.http.get(path).json()["results"] == []
    assert list(get_redis_connection().scan_iter(f"*{member.tenant.id.hex}*", count=10_000)) == []


def fields(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value in the body, also inside lists and objects."""
    if path:
        yield path
    pairs = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for step, value in pairs:
        yield from fields(value, (*path, step))


def is_mended(call: Call, path: tuple[Any, ...]) -> bool:
    if "/hooks/" in call.path:
        return not MENDED_BY_HOOKS.isdisjoint(path)
    return call.is_agentops and call.path != "/import" and not MENDED.isdisjoint(path)


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


@by_name
def test_what_is_not_json_is_422_and_writes_nothing(acme, call):
    for told, content in NOT_JSON.items():
        if call.is_agentops and told == "two values":
            continue  # its original looks at the first alone
        answer = post(acme, call, content)
        assert_refusal(answer, call, 422)
        assert len(answer.text) < 1_000, told
    assert_nothing_written(acme)


@of_fields
def test_another_root_than_an_object_is_422_and_writes_nothing(acme, call):
    for content in WRONG_ROOT:
        assert_refusal(post(acme, call, content), call, 422)
    assert_nothing_written(acme)


@of_fields
def test_no_body_is_refused_where_one_is_needed(acme, call):
    optional = call.method == "DELETE" or call.path in ("/api/v1/sessions", "/api/v1/sessions/{id}/end")
    optional = optional or call.body == {} or call.path.endswith(("/restrict", "/link"))
    for content in (b"", b"null"):
        answer = post(acme, call, content)
        if optional or (call.is_agentops and content == b"null"):  # to its original, null is an empty object
            assert_clean(answer, call, content)
        else:
            assert_refusal(answer, call, 422)


@by_name
def test_a_value_of_another_type_is_taken_or_refused(long_lived, call):
    body = call.body_for("types")
    for path in fields(body):
        for value in WRONG_VALUES:
            answer = post(long_lived, call, dump(replaced(body, path, value)), "types")
            assert_clean(answer, call, (path, value))


@by_name
def test_nul_and_half_a_surrogate_pair_are_refused_wherever_they_stand(acme, call):
    body = call.body_for("bad")
    for path in fields(body):
        if is_mended(call, path):
            continue
        for text in UNSTORABLE:
            for value in (text, [text], {text: 1}, {"a": [text]}):
                assert_refusal(post(acme, call, dump(replaced(body, path, value))), call, 422)
    for text in UNSTORABLE:
        assert_refusal(post(acme, call, dump({**body, text: 1})), call, 422)
    assert_nothing_written(acme)


@of_fields
def test_a_body_of_ten_megabytes_is_413(acme, call):
    big = b'{"data": "' + b"x" * 10_000_000 + b'"}'
    with_length = post(acme, call, big)
    chunked = post(
        acme.with_key(), call, (big[start : start + 65_536] for start in range(0, len(big), 65_536))
    )
    assert "transfer-encoding" in chunked.request.headers
    for answer in (with_length, chunked):
        assert_refusal(answer, call, 413)
        assert "1048576" in answer.text
    assert_nothing_written(acme)


@by_name
def test_dates_far_away_or_without_a_zone_are_taken_or_refused(long_lived, call):
    body = call.body_for("dates")
    for path in fields(body):
        is_named = re.search("created_at|timestamp|event_date|since|until", str(path[-1]))
        if is_named and not isinstance(reduce(getitem, path, body), dict):  # or a filter by one
            for date in DATES:
                answer = post(long_lived, call, dump(replaced(body, path, date)), "dates")
                refused = REFUSED.get(path[-1]) if call.is_native else REFUSED_BY_AMS.get(path)
                if refused and date in refused and (call.is_native or call.is_ams):
                    assert_refusal(answer, call, 422, sent=(path, date))
                    continue
                assert_clean(answer, call, (path, date))
                taken = (404,) if call.names_nothing else (200, 201)
                assert answer.status_code in taken, (path, date, answer.text)
    assert long_lived.http.get("/api/v1/episodes").is_success
    long_lived.http.post("/api/v1/sessions", json={"session_id": "dates"})
    assert long_lived.http.get("/api/v1/sessions/dates/events").is_success


@by_name
@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "application/xml",
     "application/json; charset=utf-16", "application/json; charset=nonsense", "é", ";;;",
     "application/json,text/x"],
)  # fmt: skip
def test_the_content_type_changes_nothing(long_lived, call, content_type):
    content = dump(call.body_for("types"))
    headers = {b"Content-Type": content_type.encode()}
    http = call.by(long_lived).http
    answer = http.request(call.method, call.url("types"), content=content, headers=headers)
    assert_clean(answer, call, content_type)
    broken = http.request(call.method, call.url("types"), content=b"a=b", headers=headers)
    assert_refusal(broken, call, 422)


@pytest.mark.parametrize(
    "call",
    [call for call in WITH_BODY if call.path != "/import"],  # which does not wait for a last one
    ids=lambda call: call.name,
)
def test_of_two_members_with_one_name_the_last_counts(long_lived, call):
    body = call.body_for("twice")
    for name in body:
        bad, good = dump({name: ["\u00e9"]}), dump(body)
        answer = post(long_lived, call, bad[:-1] + b"," + good[1:], "twice")
        plain = post(long_lived, call, good, "twice")
        assert answer.is_success == plain.is_success


@of_fields
def test_unknown_members_are_refused_natively_and_ignored_elsewhere(long_lived, call):
    answer = post(long_lived, call, dump({**call.body_for("unknown"), "colour": "red"}), "unknown")
    if call.is_native:
        assert_refusal(answer, call, 422)
        assert [one["field"] for one in answer.json()["errors"]] == ["colour"]
    elif call.names_nothing:
        assert_refusal(answer, call, 404)  # and that is all
    else:
        assert answer.is_success


def test_a_byte_order_mark_is_passed_over(acme):
    assert acme.http.put("/working-memory/c", content=b'\xef\xbb\xbf{"data": {"a": 1}}').json()["data"] == {
        "a": 1
    }


def test_a_list_of_turns_or_events_is_written_whole_or_not_at_all(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    turn, event = {"role": "user", "content": "fine"}, {"event_type": "note", "content": 1}
    for path, body in [
        ("turns", {"turns": [turn, {**turn, "role": "ghost"}]}),
        ("turns", {"turns": [turn, 7]}),
        ("turns", {"turns": []}),
        ("turns", {"turns": [turn] * 1_001}),
        ("events", [event, {"event_type": "", "content": 1}]),
        ("events", [event, None]),
        ("events", []),
        ("events", [event] * 1_001),
        ("events", [event, {**event, "timestamp": "never"}]),
    ]:
        answer = acme.http.post(f"/api/v1/sessions/s/{path}", json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert acme.http.get("/api/v1/sessions/s/events").json()["results"] == []
    assert acme.http.get("/api/v1/sessions/s").json()["turn_count"] == 0


NUMBERS = [
    "", "0", "-1", "+1", "1.5", "1e2", "x", " 5", "5 ", "0x5", "1_0", "\u0663", "²", "201", "9" * 30,
    "9" * 5_000, "000000000001" + "9" * 5_000, "000000000001" + "9" * 30, "null", "%00", "1,2", "1;2",
]  # fmt: skip
CURSORS = [
    "x", "é", "====", "bm90LWEtY3Vyc29y", "MjAyNi0wMS0wMXx4", "fA==", "MHww", "A" * 5_000, "../..", "-1",
    "%00", "MjAyNi0wMS0wMVQwMDowMDowMHwwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDA=",
]  # fmt: skip
# In form one of ours; its moment lies before what Python can tell in UTC.
BEFORE_OUR_ERA = "MDAwMS0wMS0wMVQwMDowMDowMCsxNDowMHwwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDA="


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (call, name)
        for call in CALLS
        for path, names in {
            "/api/v1/sessions": ["limit"],
            "/api/v1/episodes": ["limit"],
            "/api/v1/observations": ["limit"],
            "/api/v1/sessions/{id}/events": ["limit"],
            "/api/v1/policy/versions": ["limit"],
            "/api/v1/sessions/{id}/window": ["turns", "token_budget", "max_tool_result_chars"],
        }.items()
        for name in names
        if (call.method, call.path) == ("GET", path)
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_number_in_the_query_is_a_number_in_range(long_lived, call, name):
    long_lived.http.post("/api/v1/sessions", json={"session_id": "numbers"})
    for text in NUMBERS:
        answer = long_lived.http.request("GET", call.url("numbers") + f"?{name}={text}")
        if text == "201" and name != "limit":
            assert answer.is_success
        else:
            assert_refusal(answer, call, 422)
            assert answer.json()["errors"][0]["field"] == name


@pytest.mark.parametrize(
    "path",
    ["/api/v1/sessions", "/api/v1/episodes", "/api/v1/observations", "/api/v1/sessions/{id}/events",
     "/api/v1/policy/versions"],
)  # fmt: skip
def test_a_cursor_that_is_none_of_ours_is_refused(long_lived, path):
    (call,) = [call for call in CALLS if (call.method, call.path) == ("GET", path)]
    long_lived.http.post("/api/v1/sessions", json={"session_id": "cursors"})
    for text in CURSORS:
        assert_refusal(long_lived.http.get(f"{call.url('cursors')}?cursor={text}"), call, 422)
    early = long_lived.http.get(f"{call.url('cursors')}?cursor={BEFORE_OUR_ERA}")
    assert_clean(early, call, BEFORE_OUR_ERA)


@pytest.mark.parametrize(
    "query", ["active=maybe", "active=", "memory_type=dream", "memory_type=", "event_types=" + LONG]
)
def test_an_option_in_the_query_has_to_be_one(long_lived, query):
    long_lived.http.post("/api/v1/sessions", json={"session_id": "options"})
    path = {"active": "sessions", "memory_type": "episodes", "event_types": "sessions/options/events"}[
        query.split("=")[0]
    ]
    answer = long_lived.http.get(f"/api/v1/{path}?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    [*UNSTORABLE, LONG, "2026-01-01T00:00:00Z"]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.integers(10**300, 10**301),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@by_name
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_json_at_all_is_a_fault_of_ours(long_lived, call, data):
    body = call.body_for("fuzz")
    path = data.draw(st.sampled_from([(), *fields(body)]))
    value = data.draw(ANY)
    sent = replaced(body, path, value) if path else value
    assert_clean(post(long_lived, call, dump(sent), "fuzz"), call, sent)


@by_name
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=60))
def test_no_bytes_at_all_are_a_fault_of_ours(long_lived, call, content):
    assert_clean(post(long_lived, call, content, "fuzz"), call, content)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    call=st.sampled_from(CALLS), tail=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
)
def test_no_path_is_a_fault_of_ours(long_lived, call, tail):
    url = str(long_lived.http.base_url).rstrip("/") + call.url("fuzz") + tail.replace("#", "")
    try:
        request = long_lived.http.build_request(call.method, url, json=call.body)
    except httpx.InvalidURL:
        return
    assert long_lived.http.send(request).status_code < 500
