"""`/api/v1/hooks/`: results saved by rule, lookups before a call."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from observations.models import Observation, ObservationRevision
from tenants.models import StoredAnswer
from tenants.scope import scope
from tests.native.shapes import problem
from tests.observations.notes import embed, note

AGENT = "/api/v1/agents/coder"
RESULT = "/api/v1/hooks/tool-result"
BEFORE = "/api/v1/hooks/before-tool"


@pytest.fixture
def declare(acme):
    http = acme.with_key(scopes=("read", "write", "admin")).http

    def _declare(project="Orders", **hooks):
        answer = http.put(AGENT, json={"memory": {"project": project}, "toolHooks": hooks})
        assert answer.is_success, answer.text

    return _declare


def ran(http, output="error: no such file", *, args=None, headers=None, **more):
    body = {"agent": "coder", "session_id": "s1", "tool": "bash", "args": args or {}, "output": output}
    return http.post(RESULT, json=body | more, headers=headers)


def about_to_run(http, *, args=None, headers=None, **more):
    body = {"agent": "coder", "session_id": "s1", "tool": "bash", "args": args or {}}
    return http.post(BEFORE, json=body | more, headers=headers)


def observations(member, **where):
    with scope(member.tenant.id):
        return list(Observation.objects.filter(tenant_id=member.tenant.id, **where).order_by("id"))


def events(member):
    answer = member.http.get("/api/v1/sessions/s1/events", params={"event_types": "hook_context"})
    return [one["content"] for one in answer.json()["results"]] if answer.is_success else []


def test_a_result_that_matches_is_saved_as_the_contract_has_it(acme, declare):
    declare(memorySaveRules=[
        {"tool": "bash", "matchOutput": "error|panic", "matchArgs": {"command": "^git "}, "type": "bugfix"}
    ])  # fmt: skip
    answer = ran(acme.http, "error: " + "é" * 1_000, args={"command": "git push " + "x" * 100})
    (saved,) = observations(acme)
    assert answer.json() == {
        "saved": [
            {"observation_id": saved.id, "action": "created", "type": "bugfix", "title": saved.title,
             "rule": 0},
        ],
        "skipped": [],
    }  # fmt: skip
    assert saved.title == "Auto-captured: bash — git push " + "x" * 71
    assert saved.content == "error: " + "é" * 993 + "..."
    assert saved.tags == ["auto-capture", "hook", "bash"]
    assert (saved.project, saved.scope, saved.topic_key) == ("orders", "project", "")
    assert (saved.session, saved.agent_id, saved.user_id) == ("s1", "coder", "")


def test_all_rules_of_the_tool_are_tried_and_the_others_told(acme, declare):
    declare(memorySaveRules=[
        {"tool": "bash", "matchOutput": "panic"},
        {"tool": "ls"},
        {"tool": "bash", "matchArgs": {"path": "x"}},
        {"tool": "bash", "type": "bugfix", "scope": "global"},
        {"tool": "bash", "matchArgs": {"command": "^git"}},
        {"tool": "bash", "type": "config"},
    ])  # fmt: skip
    body = ran(acme.http, args={"command": "ls"}).json()
    (saved,) = observations(acme)
    assert [(one["rule"], one["action"], one["type"]) for one in body["saved"]] == [
        (3, "created", "bugfix"),
        (5, "deduplicated", "bugfix"),  # the same content: one memory, as the first rule has it
    ]
    assert {one["observation_id"] for one in body["saved"]} == {saved.id}
    assert (saved.duplicate_count, saved.scope) == (2, "global")
    assert body["skipped"] == [
        {"rule": 0, "tool": "bash", "reason": "output_not_matched"},
        {"rule": 2, "tool": "bash", "reason": "arg_missing"},
        {"rule": 4, "tool": "bash", "reason": "arg_not_matched"},
    ]


@pytest.mark.parametrize(("given", "reason"), [
    ({"error": "killed"}, "tool_error"),
    ({"output": ""}, "output_empty"),
    ({"output": None, "error": None}, "output_empty"),
    ({"output": " \n"}, "output_empty"),
])  # fmt: skip
def test_what_is_no_result_is_not_saved(acme, declare, given, reason):
    declare(memorySaveRules=[{"tool": "bash"}])
    assert ran(acme.http, **given).json() == {
        "saved": [],
        "skipped": [{"rule": 0, "tool": "bash", "reason": reason}],
    }
    assert observations(acme) == []
    problem(acme.http.get("/api/v1/sessions/s1"), 404)


def test_a_result_that_tells_of_an_error_is_one(acme, declare):
    declare(memorySaveRules=[{"tool": "bash", "matchOutput": "^error"}])
    assert len(ran(acme.http, error="").json()["saved"]) == 1


def test_a_tool_without_hooks_leaves_nothing(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}], auditTools=["bash"])
    assert ran(acme.http, tool="Bash").json() == {"saved": [], "skipped": []}
    assert observations(acme) == []


def test_an_audited_call_is_kept_under_one_topic(acme, declare):
    declare(auditTools=["bash"])
    args = {"command": "login --password sesame"}
    first = ran(acme.http, "fine", args=args, duration_ms=12).json()["saved"]
    second = ran(acme.http, "", args=args, error="killed", duration_ms=30).json()["saved"]
    (saved,) = observations(acme)
    assert [one | {"observation_id": None} for one in (*first, *second)] == [
        {"observation_id": None, "action": action, "type": "audit", "title": title, "rule": None}
        for action, title in (
            ("created", "Audit: bash (success, 12ms)"),
            ("updated", "Audit: bash (error, 30ms)"),
        )
    ]
    assert (saved.topic_key, saved.tags) == ("audit/bash", ["audit", "hook", "bash"])
    assert saved.content == ("tool: bash\noutcome: error\nduration: 30ms\narguments: command\nerror: killed")
    with scope(acme.tenant.id):
        (former,) = ObservationRevision.objects.filter(tenant_id=acme.tenant.id)
    assert former.title == "Audit: bash (success, 12ms)"


def test_rules_and_audit_are_one_answer(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}], auditTools=["bash"])
    saved = ran(acme.http).json()["saved"]
    assert [(one["rule"], one["type"]) for one in saved] == [(0, "discovery"), (None, "audit")]
    assert [one.agent_id for one in observations(acme)] == ["coder", "coder"]


def test_a_result_that_is_sent_again_is_saved_once(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}, {"tool": "bash", "type": "x"}], auditTools=["bash"])
    first, second = (ran(acme.http, headers={"Idempotency-Key": "k"}) for _time in range(2))
    assert (second.headers["Idempotency-Replayed"], second.json()) == ("true", first.json())
    captured, audited = observations(acme)
    assert (captured.duplicate_count, audited.revision_count) == (2, 1)
    with scope(acme.tenant.id):
        assert StoredAnswer.objects.filter(tenant_id=acme.tenant.id).count() == 1


def test_of_many_that_are_the_same_one_is_saved(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}, {"tool": "bash"}], auditTools=["bash"])
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _n: ran(acme.http, headers={"Idempotency-Key": "k"}), range(12)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    captured, audited = observations(acme)
    assert (captured.duplicate_count, audited.revision_count) == (2, 1)


def test_many_at_once_lose_nothing(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}, {"tool": "bash", "scope": "global"}], auditTools=["bash"])
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: ran(acme.http, f"out {number % 4}"), range(32)))
    assert {answer.status_code for answer in answers} == {200}
    *captured, audited = sorted(observations(acme), key=lambda one: one.type == "audit")
    assert sorted(one.content for one in captured) == [f"out {number}" for number in range(4)]
    assert [one.duplicate_count for one in captured] == [16] * 4
    assert audited.revision_count == 32


def test_a_catastrophic_pattern_stalls_nobody(acme, declare):
    """A backtracking engine takes longer than the age of the universe for it."""
    declare(memorySaveRules=[
        {"tool": "bash", "matchOutput": "(a+)+$"},
        {"tool": "bash", "matchOutput": "(a|aa)+$", "matchArgs": {"command": "^(a*)*b$"}},
        {"tool": "bash", "matchOutput": "!$", "matchArgs": {"command": "(x+x+)+y"}},
    ])  # fmt: skip
    started = time.monotonic()
    body = ran(acme.http, "a" * 49_999 + "!", args={"command": "x" * 900_000}).json()
    assert time.monotonic() - started < 20
    assert [one["reason"] for one in body["skipped"]] == [
        "output_not_matched", "output_not_matched", "arg_not_matched",
    ]  # fmt: skip
    assert len(ran(acme.http, "a" * 50_000).json()["saved"]) == 1


def test_a_session_keeps_the_user_it_has(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}])
    acme.http.post("/api/v1/sessions", json={"session_id": "s1", "user_id": "alice"})
    ran(acme.http, "one")
    ran(acme.http, "two", user_id="bob")
    assert {one.content: one.user_id for one in observations(acme)} == {"one": "alice", "two": "bob"}


def test_an_answer_belongs_to_the_sessions_user(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}])
    acme.http.post("/api/v1/sessions", json={"session_id": "s1", "user_id": "alice"})
    ran(acme.http, headers={"Idempotency-Key": "k"})
    with scope(acme.tenant.id):
        (kept,) = StoredAnswer.objects.filter(tenant_id=acme.tenant.id)
    assert kept.user_id == "alice"


def test_several_sessions_of_that_id_are_a_conflict(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}], contextInjectTools=[{"tool": "bash", "query": "x"}])
    for user in ("alice", "bob"):
        acme.http.post("/api/v1/sessions", json={"session_id": "s1", "user_id": user})
    problem(ran(acme.http), 409)
    problem(about_to_run(acme.http), 409)
    assert ran(acme.http, user_id="bob").is_success
    assert about_to_run(acme.http, user_id="bob").is_success


@pytest.mark.parametrize("send", [ran, about_to_run])
def test_an_agent_that_is_not_declared_has_no_hooks(acme, globex, declare, send):
    problem(send(acme.http), 404)
    declare()
    assert send(acme.http).is_success
    problem(send(acme.http, agent="Coder"), 404)
    problem(send(globex.http), 404)


@pytest.mark.parametrize("send", [ran, about_to_run])
def test_a_bound_key_reaches_its_own_hooks_only(acme, declare, send):
    declare(project="Apollo", memorySaveRules=[{"tool": "bash"}],
            contextInjectTools=[{"tool": "bash", "query": "x"}])  # fmt: skip
    for own in ({"agent_id": "coder"}, {"project": "Apollo"}, {"project": "apollo"}, {"user_id": "alice"}):
        session = "-".join(own.values())
        assert send(acme.with_key(**own).http, session_id=session).is_success, own
        assert send(acme.with_key(**own).http, session_id=session).is_success, own
    for tool in ("bash", "without-hooks"):
        for others in ({"agent_id": "spy"}, {"project": "zeus"}):
            problem(send(acme.with_key(**others).http, tool=tool), 403)
        problem(send(acme.with_key(user_id="alice").http, tool=tool, user_id="bob"), 403)
    problem(send(acme.with_key(agent_id="spy").http, agent="nobody"), 403)
    problem(send(acme.with_key(scopes=("read",)).http), 403)


@pytest.mark.parametrize("send", [ran, about_to_run])
def test_another_agents_session_is_refused(acme, declare, send):
    declare(memorySaveRules=[{"tool": "bash"}], contextInjectTools=[{"tool": "bash", "query": "x"}])
    acme.http.post("/api/v1/sessions", json={"session_id": "s1", "agent_id": "spy"})
    problem(send(acme.with_key(agent_id="coder").http), 403)
    assert observations(acme) == events(acme) == []


@pytest.mark.parametrize(("url", "wrong", "field"), [
    (RESULT, {"agent": ""}, "agent"),
    (RESULT, {"session_id": None}, "session_id"),
    (RESULT, {"session_id": "a/"}, "session_id"),
    (RESULT, {"tool": ""}, "tool"),
    (RESULT, {"tool": "x" * 201}, "tool"),
    (RESULT, {"args": ["ls"]}, "args"),
    (RESULT, {"args": "ls"}, "args"),
    (RESULT, {"output": {"text": "x"}}, "output"),
    (RESULT, {"error": 5}, "error"),
    (RESULT, {"duration_ms": -1}, "duration_ms"),
    (RESULT, {"duration_ms": 1.5}, "duration_ms"),
    (RESULT, {"duration_ms": 2**53 + 1}, "duration_ms"),
    (RESULT, {"project": "p"}, "project"),
    (BEFORE, {"session_id": ""}, "session_id"),
    (BEFORE, {"args": 5}, "args"),
    (BEFORE, {"output": "x"}, "output"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, declare, url, wrong, field):
    declare(memorySaveRules=[{"tool": "bash"}])
    body = {"agent": "coder", "session_id": "s1", "tool": "bash", "args": {}}
    problem(acme.http.post(url, json=body | wrong), 422, field)
    assert observations(acme) == []


def test_arguments_may_be_null_but_not_missing(acme, declare):
    declare(memorySaveRules=[{"tool": "bash"}])
    body = {"agent": "coder", "session_id": "s1", "tool": "bash", "args": None, "output": "x"}
    assert acme.http.post(RESULT, json=body).is_success
    del body["args"], body["output"]
    problem(acme.http.post(BEFORE, json=body), 422, "args")


def test_before_a_call_memory_is_asked_about_its_arguments(acme, declare):
    declare(contextInjectTools=[{"tool": "bash"}, {"tool": "ls", "query": "cluster"}])
    found = note(acme.caller, "deploy with the blue cluster " + "x" * 300).observation
    note(acme.caller, "the weather is fine")
    note(acme.caller, "deploy elsewhere", project="other")
    embed(acme.caller)
    (memory,) = about_to_run(acme.http, args={"command": "deploy"}).json()["memories"]
    assert memory.pop("rank") < 0
    assert memory == {
        "id": found.id, "type": "decision", "title": "Cluster", "content": found.content[:300] + "...",
        "method": "bm25", "query": "deploy",
    }  # fmt: skip
    assert events(acme) == [{"tool": "bash", "query": "deploy", "memories": [found.id]}]


def test_what_is_only_recent_is_not_told(acme, declare):
    declare(contextInjectTools=[{"tool": "bash", "query": "xylophone quartet"}])
    note(acme.caller, "we use the blue cluster")
    embed(acme.caller)
    assert about_to_run(acme.http).json() == {"memories": []}
    assert events(acme) == [{"tool": "bash", "query": "xylophone quartet", "memories": []}]


def test_the_limit_is_the_rules(acme, declare):
    for number in range(5):
        note(acme.caller, f"cluster {number}", title=f"n{number}")
    for limit, given in ((3, {}), (2, {"limit": 2}), (5, {"limit": 10})):
        declare(contextInjectTools=[{"tool": "bash", "query": "cluster"} | given])
        assert len(about_to_run(acme.http).json()["memories"]) == limit


def test_all_lookups_of_the_tool_run_and_a_memory_is_told_once(acme, declare):
    declare(contextInjectTools=[
        {"tool": "bash", "query": "blue"}, {"tool": "bash", "query": "cluster"}, {"tool": "bash"},
    ])  # fmt: skip
    blue, other = (note(acme.caller, f"the {name} cluster").observation.id for name in ("blue", "green"))
    memories = about_to_run(acme.http).json()["memories"]
    assert [(one["id"], one["query"]) for one in memories] == [(blue, "blue"), (other, "cluster")]
    left = events(acme)
    assert [one["query"] for one in left] == ["blue", "cluster"]  # of no arguments there is nothing to ask
    assert [sorted(one["memories"]) for one in left] == [[blue], sorted([blue, other])]


def test_a_breadcrumb_holds_200_characters_of_the_query(acme, declare):
    declare(contextInjectTools=[{"tool": "bash"}])
    note(acme.caller, "cluster")
    about_to_run(acme.http, args={"command": "cluster " + "é" * 150_000})
    (left,) = events(acme)
    assert left["query"] == "cluster " + "é" * 192


def test_a_breadcrumb_is_no_turn_and_not_in_the_ledger(acme, declare):
    declare(contextInjectTools=[{"tool": "bash", "query": "cluster"}])
    note(acme.caller)
    assert about_to_run(acme.http).json()["memories"]
    session = acme.http.get("/api/v1/sessions/s1").json()
    assert (session["turn_count"], session["agent_id"], session["project"]) == (0, "coder", "orders")
    assert acme.http.get("/api/v1/sessions/s1/window").json()["messages"] == []
    assert acme.http.get("/ledger/s1").json() == {}


@pytest.mark.parametrize("session", [{"session_id": None}, {}])
def test_without_a_session_memory_is_asked_all_the_same(acme, declare, session):
    declare(contextInjectTools=[{"tool": "bash", "query": "cluster"}])
    note(acme.caller, session_id="other")
    body = {"agent": "coder", "tool": "bash", "args": {}} | session
    assert len(acme.http.post(BEFORE, json=body).json()["memories"]) == 1
    assert [one["session_id"] for one in acme.http.get("/api/v1/sessions").json()["results"]] == ["other"]


def test_a_tool_without_lookups_asks_nothing(acme, declare):
    declare(contextInjectTools=[{"tool": "ls", "query": "cluster"}])
    note(acme.caller, session_id="other")
    assert about_to_run(acme.http).json() == {"memories": []}
    assert events(acme) == []


def test_a_named_user_is_told_his_own(acme, declare):
    declare(contextInjectTools=[{"tool": "bash", "query": "cluster"}])
    mine, _theirs = (
        note(acme.caller, "cluster", user_id=user, session_id=user).observation.id
        for user in ("alice", "bob")
    )
    for http, given in ((acme.http, {"user_id": "alice"}), (acme.with_key(user_id="alice").http, {})):
        memories = about_to_run(http, **given).json()["memories"]
        assert [one["id"] for one in memories] == [mine]


def test_a_lookup_that_is_sent_again_leaves_one_breadcrumb(acme, declare):
    declare(contextInjectTools=[{"tool": "bash", "query": "cluster"}])
    note(acme.caller)
    first, second = (about_to_run(acme.http, headers={"Idempotency-Key": "k"}) for _time in range(2))
    assert (second.headers["Idempotency-Replayed"], second.json()) == ("true", first.json())
    assert len(events(acme)) == 1


def test_an_answer_that_shows_several_peoples_memories_is_not_kept(acme, declare):
    """It could be erased with one of them only."""
    declare(contextInjectTools=[{"tool": "bash", "query": "cluster"}])
    for user in ("alice", "bob"):
        note(acme.caller, "the cluster", user_id=user, session_id=user)
        first = about_to_run(acme.http, headers={"Idempotency-Key": user})
        again = about_to_run(acme.http, headers={"Idempotency-Key": user})
        assert first.is_success
        if user == "alice":
            assert again.json() == first.json()
        else:
            problem(again, 409)
    with scope(acme.tenant.id):
        kept = StoredAnswer.objects.filter(tenant_id=acme.tenant.id).order_by("key")
        assert [bool(one.body) for one in kept] == [True, False]
        assert kept[0].user_id == "alice"
