"""`/api/v1/policy`: read, changed, brought back; and what it changes in the other routes."""

import pytest
from django_redis import get_redis_connection
from jsonschema import Draft202012Validator

from tests.native.shapes import problem
from working import keys
from working.types import SessionRef

URL = "/api/v1/policy"
DAY = 86_400


@pytest.fixture
def admin(acme):
    return acme.with_key(scopes=("read", "write", "admin")).http


def decide(http, document, agent_id=None, **named):
    answer = http.patch(URL, json={"document": document, "agent_id": agent_id}, **named)
    assert answer.status_code == 200, answer.text
    return answer


def test_a_tenant_that_decided_nothing_is_shown_what_holds(acme):
    answer = acme.http.get(URL)
    body = answer.json()
    assert body.keys() == {"agent_id", "version", "document", "effective", "defaults"}
    assert (body["agent_id"], body["version"], body["document"]) == (None, 0, {})
    assert body["effective"] == body["defaults"]
    assert body["effective"]["working"]["turns"] == 6
    assert answer.headers["ETag"] == '"0"'


def test_a_change_is_merged_and_answered_with_the_next_version(admin):
    decide(admin, {"recall": {"top_k": 8}, "working": {"turns": 4}})
    answer = decide(admin, {"working": {"turns": None}})
    assert answer.headers["ETag"] == '"2"'
    body = answer.json()
    assert (body["version"], body["document"]) == (2, {"recall": {"top_k": 8}})
    assert (body["effective"]["recall"]["top_k"], body["defaults"]["recall"]["top_k"]) == (8, 5)
    assert admin.get(URL).json() == body


def test_an_agent_s_level_is_its_own(admin):
    decide(admin, {"recall": {"top_k": 8}})
    body = decide(admin, {"recall": {"top_k": 3}}, "coder").json()
    assert (body["agent_id"], body["version"]) == ("coder", 1)
    assert admin.get(f"{URL}?agent_id=coder").json() == body
    assert body["defaults"]["recall"]["top_k"] == 8
    assert admin.get(f"{URL}?agent_id=other").json()["effective"]["recall"]["top_k"] == 8


@pytest.mark.parametrize(("document", "field"), [
    ({"recall": {"top_k": 0}}, "document.recall.top_k"),
    ({"recall": {"topk": 1}}, "document.recall.topk"),
    ({"colour": {"red": 1}}, "document.colour"),
    ({"session": {"max_age_seconds": 7 * DAY + 1}}, "document.session.max_age_seconds"),
    ({"session": {"idle_seconds": 2 * DAY}}, "document.session.idle_seconds"),
    ([], "document"),
    ("x", "document"),
])  # fmt: skip
def test_what_is_not_valid_is_named_and_nothing_is_written(admin, document, field):
    problem(admin.patch(URL, json={"document": document}), 422, field)
    assert admin.get(URL).json()["version"] == 0


@pytest.mark.parametrize(("body", "headers", "status"), [
    ({"version": 1}, {}, 200),
    ({"version": 0}, {}, 409),
    ({"version": 2}, {}, 409),
    ({}, {"If-Match": '"1"'}, 200),
    ({"version": 1}, {"If-Match": '"1"'}, 200),
    ({}, {"If-Match": "*"}, 200),
    ({}, {"If-Match": '"0"'}, 412),
    ({"version": 1}, {"If-Match": '"2"'}, 412),
    ({"version": 2}, {"If-Match": '"1"'}, 409),
    ({}, {"If-Match": "1"}, 422),
    ({}, {"If-Match": '"0", "1"'}, 200),
    ({}, {"If-Match": '"0",W/"1","x"'}, 412),
    ({}, {"If-Match": 'W/"1"'}, 412),
    ({}, {"If-Match": '"1" "0"'}, 422),
    ({"version": -1}, {}, 422),
])  # fmt: skip
def test_the_version_that_was_read_guards_the_change(admin, body, headers, status):
    decide(admin, {"recall": {"top_k": 8}})
    for path, more in ((URL, {"document": {"recall": {"top_k": 9}}}), (f"{URL}/rollback", {"to": 0})):
        method = "PATCH" if path == URL else "POST"
        answer = admin.request(method, path, json=body | more, headers=headers)
        assert answer.status_code == status, answer.text
        if status == 200:
            break  # the next version stands


def test_a_tag_that_is_no_version_is_not_taken_for_the_empty_one(admin):
    for tag in ('"x"', 'W/"0"', '""'):
        answer = admin.patch(URL, json={"document": {}}, headers={"If-Match": tag})
        problem(answer, 412)
    decide(admin, {"recall": {"top_k": 8}}, headers={"If-Match": '"0"'})


def test_versions_are_listed_page_by_page_compared_and_brought_back(admin):
    for number in (7, 8, 9):
        decide(admin, {"recall": {"top_k": number}})
    first = admin.get(f"{URL}/versions?limit=2").json()
    assert [one["version"] for one in first["results"]] == [3, 2]
    rest = admin.get(f"{URL}/versions?limit=2&cursor={first['next']}").json()
    assert ([one["version"] for one in rest["results"]], rest["next"]) == ([1], None)
    assert rest["results"][0].keys() == {"version", "document", "author", "note", "created_at"}
    assert rest["results"][0]["author"].startswith("key:")
    assert admin.get(f"{URL}/diff?from=1").json() == {
        "from_version": 1,
        "to_version": 3,
        "changes": [{"field": "recall.top_k", "before": 7, "after": 9}],
    }
    back = admin.post(f"{URL}/rollback", json={"to": 1, "note": "too many"}).json()
    assert (back["version"], back["document"]) == (4, {"recall": {"top_k": 7}})
    assert admin.get(f"{URL}/versions").json()["results"][0]["note"] == "too many"


def test_an_unknown_version_is_404(admin):
    problem(admin.get(f"{URL}/diff?from=0&to=1"), 404)
    problem(admin.post(f"{URL}/rollback", json={"to": 1}), 404)
    problem(admin.get(f"{URL}/diff?from=-1"), 422, "from")


def test_the_schema_describes_what_is_answered(admin):
    schema = admin.get(f"{URL}/schema").json()
    Draft202012Validator.check_schema(schema)
    effective = admin.get(URL).json()["effective"]
    Draft202012Validator(schema).validate(effective)
    for section in schema["$defs"].values():
        for field in section["properties"].values():
            assert len(field["description"]) > 20
            assert "default" in field
    assert schema["$defs"]["Session"]["properties"]["max_age_seconds"]["maximum"] == 7 * DAY


def test_only_an_admin_changes_a_policy(acme):
    for scopes in (("read",), ("read", "write"), ("privacy",), ("ingest",)):
        http = acme.with_key(scopes=scopes).http
        problem(http.patch(URL, json={"document": {}}), 403)
        problem(http.post(f"{URL}/rollback", json={"to": 0}), 403)


def test_a_key_bound_to_an_agent_sees_and_changes_that_agent_s_only(acme, admin):
    decide(admin, {"recall": {"top_k": 8}}, "spy")
    bound = acme.with_key(scopes=("read", "admin"), agent_id="coder").http
    assert decide(bound, {"recall": {"top_k": 3}}).json()["agent_id"] == "coder"
    assert bound.get(URL).json()["document"] == {"recall": {"top_k": 3}}
    assert admin.get(URL).json()["version"] == 0
    for path in ("", "/versions", "/diff"):
        problem(bound.get(f"{URL}{path}?agent_id=spy"), 403)
    problem(bound.patch(URL, json={"agent_id": "spy", "document": {}}), 403)
    problem(bound.post(f"{URL}/rollback", json={"agent_id": "spy", "to": 0}), 403)


@pytest.mark.parametrize("binding", ["user_id", "project"])
def test_a_key_bound_to_a_user_or_project_reads_only(acme, binding):
    bound = acme.with_key(scopes=("read", "write", "admin"), **{binding: "x"}).http
    assert bound.get(URL).status_code == 200
    problem(bound.patch(URL, json={"document": {"recall": {"top_k": 8}}}), 403)
    problem(bound.post(f"{URL}/rollback", json={"to": 0}), 403)


def test_globex_is_told_nothing_of_what_acme_decides(admin, globex):
    decide(admin, {"limits": {"episode_chars": 424_242}})
    for path in ("", "/versions", "/diff", "?agent_id=coder"):
        assert "424242" not in globex.http.get(URL + path).text


def talk(http, session, pairs, agent_id=None):
    turns = [{"role": r, "content": f"{r} {n}"} for n in range(pairs) for r in ("user", "assistant")]
    http.post(f"/api/v1/sessions/{session}/turns", json={"turns": turns, "agent_id": agent_id})


def window(http, session, query=""):
    return http.get(f"/api/v1/sessions/{session}/window{query}").json()


@pytest.mark.parametrize("redis_knows", [True, False], ids=["warm", "cold"])
def test_a_window_holds_as_many_exchanges_as_the_session_s_agent_decides(acme, admin, redis_knows):
    decide(admin, {"working": {"turns": 2}})
    decide(admin, {"working": {"turns": 30}}, "coder")
    for session, agent, pairs in (("plain", None, 2), ("agent", "coder", 30)):
        talk(acme.http, session, 40, agent)
        if not redis_knows:
            forget(acme)
        assert len(window(acme.http, session)["messages"]) == 2 * pairs
        assert len(window(acme.http, session, "?turns=3")["messages"]) == 6


def test_a_tool_s_result_is_cut_where_the_policy_says(acme, admin):
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    turns = [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "r" * 20_000, "tool_call_id": "c"},
    ]  # fmt: skip
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": turns})

    def cut(query=""):
        return window(acme.http, "s", query)["messages"][2]["content"].count("r")

    assert cut() == 8_000 + len("rr")  # as do the words that say so
    decide(admin, {"working": {"max_tool_result_chars": 100}})
    assert cut() == 102
    assert cut("?max_tool_result_chars=50") == 52
    decide(admin, {"working": {"max_tool_result_chars": 0}})
    assert cut() == 20_000


def test_a_window_begins_with_the_summary_from_that_turn_on_or_where_it_lacks_turns(acme, admin):
    talk(acme.http, "s", 2)
    acme.http.post("/api/v1/sessions/s/end")
    whole = window(acme.http, "s")
    assert whole["summary"]
    assert [one["role"] for one in whole["messages"]] == ["user", "assistant"] * 2
    assert window(acme.http, "s", "?turns=1")["messages"][0]["role"] == "system"
    decide(admin, {"working": {"include_summary_after_turn": 4}})
    assert window(acme.http, "s")["messages"][0] == {"role": "system", "content": whole["summary"]}
    decide(admin, {"working": {"include_summary_after_turn": 5}})
    assert window(acme.http, "s")["messages"][0]["role"] == "user"


def test_redis_keeps_a_session_as_long_as_its_agent_decides(acme, admin):
    decide(admin, {"session": {"ttl_seconds": 7_200}})
    decide(admin, {"session": {"ttl_seconds": 3_600, "max_age_seconds": 3_600}}, "coder")
    talk(acme.http, "plain", 1)
    talk(acme.http, "agent", 1, "coder")
    assert 7_190 < hold(acme, "plain") <= 7_200
    assert 3_590 < hold(acme, "agent") <= 3_600
    acme.http.put("/working-memory/plain", json={"data": {"a": 1}, "ttl_seconds": 50_000})
    acme.http.put("/working-memory/agent", json={"data": {"a": 1}, "ttl_seconds": 50_000})
    assert hold(acme, "plain") > 49_990
    assert hold(acme, "agent") <= 3_600, "its age caps it, whoever asks"
    acme.http.get("/ledger/agent")
    acme.http.post("/ledger/agent/mark", json={"item_key": "skill:x"})
    assert hold(acme, "agent") <= 3_600


def test_working_memory_may_be_as_large_as_the_policy_says(acme, admin):
    blob = {"data": {"blob": "x" * 20_000}}
    assert acme.http.put("/working-memory/c", json=blob).status_code == 200
    decide(admin, {"limits": {"working_memory_bytes": 10_000}})
    answer = acme.http.put("/working-memory/c", json=blob)
    assert (answer.status_code, "exceeds 10000 bytes" in answer.text) == (413, True)


def test_recall_answers_as_many_as_the_agent_decides(acme, admin):
    for number in range(7):
        acme.http.post(
            "/api/v1/episodes", json={"text": f"fact {number}", "user_id": "u", "agent_id": "coder"}
        )

    def count(**named):
        body = {"query": "fact", "user_id": "u", **named}
        return len(acme.http.post("/api/v1/recall", json=body).json()["results"])

    assert count() == 5
    decide(admin, {"recall": {"top_k": 3}})
    decide(admin, {"recall": {"top_k": 2}}, "coder")
    assert (count(), count(agent_id="coder"), count(top_k=6)) == (3, 2, 6)


def test_an_episode_may_be_as_long_as_the_policy_says(acme, admin):
    decide(admin, {"limits": {"episode_chars": 1_000}})
    assert acme.http.post("/api/v1/episodes", json={"text": "x" * 1_000}).status_code == 201
    problem(acme.http.post("/api/v1/episodes", json={"text": "x" * 1_001}), 413)


def hold(member, session) -> int:
    ref = SessionRef(member.tenant.id, "", "", session)
    return get_redis_connection().ttl(keys.meta(ref))


def forget(member) -> None:
    redis = get_redis_connection()
    for key in redis.scan_iter(f"*{member.tenant.id.hex}*", count=1_000):
        redis.delete(key)
