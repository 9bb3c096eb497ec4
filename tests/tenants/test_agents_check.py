"""What may be declared of an agent, and how what may not is named."""

import json

import pytest

from tenants.agents.patterns import LONGEST
from tenants.agents.spec import LONGEST_DOCUMENT, MOST_INSTRUCTIONS, agent_spec, check_document
from tenants.errors import Invalid, TooLarge

DEFAULTS = {
    "memory": {
        "project": "Coder",
        "contextLimit": 5,
        "autoSummarize": True,
        "autoSave": True,
        "autoSearch": True,
    },
    "toolHooks": {
        "blockedCommands": [],
        "allowedPaths": [],
        "auditTools": [],
        "memorySaveRules": [],
        "contextInjectTools": [],
    },
}


def refused(data, name="coder") -> Invalid:
    with pytest.raises(Invalid) as caught:
        check_document(name, data)
    return caught.value


def rules(*rules):
    return {"toolHooks": {"memorySaveRules": list(rules)}}


def injects(*tools):
    return {"toolHooks": {"contextInjectTools": list(tools)}}


@pytest.mark.parametrize("data", [
    {},
    {"memory": {}, "toolHooks": {}},
    {"memory": None, "toolHooks": None, "kaos": None},
    {"memory": {"project": "", "serverRef": "", "contextLimit": None, "autoSave": None}},
])  # fmt: skip
def test_what_is_not_given_has_its_default(data):
    assert check_document("Coder", data).as_json() == DEFAULTS


def test_what_is_given_is_kept_and_read_back_alike():
    data = {
        "memory": {
            "serverRef": "agentops-memory", "project": "Apollo", "contextLimit": 0, "windowSize": 30,
            "autoSummarize": False, "autoSave": False, "autoSearch": False,
        },
        "toolHooks": {
            "blockedCommands": ["rm -rf /"], "allowedPaths": ["/data"], "auditTools": ["bash"],
            "memorySaveRules": [
                {"tool": "bash", "matchOutput": "error", "matchArgs": {"command": "^git"}, "type": "bugfix",
                 "scope": "global"},
                {"tool": "kubectl_apply", "type": "decision"},
            ],
            "contextInjectTools": [{"tool": "bash", "query": "deployments", "limit": 10}, {"tool": "ls"}],
        },
        "kaos": {"enabled": False, "type": "redis", "contextLimit": 20, "maxSessions": 9},
    }  # fmt: skip
    stored = check_document("coder", data).as_json()
    again = check_document("coder", stored).as_json()
    assert stored == again == json.loads(json.dumps(stored))
    spec = agent_spec("coder", stored)
    assert (spec.name, spec.project, spec.memory.project) == ("coder", "apollo", "Apollo")
    assert (spec.memory.server_ref, spec.memory.context_limit) == ("agentops-memory", 0)
    assert (spec.memory.auto_summarize, spec.memory.auto_save, spec.memory.auto_search) == (False,) * 3
    first, second = spec.tool_hooks.memory_save_rules
    assert (first.match_output, first.match_args) == ("error", {"command": "^git"})
    assert (first.type, first.scope) == ("bugfix", "global")
    assert (second.match_output, second.match_args) == (None, {})
    assert (second.type, second.scope) == ("decision", "project")
    literal, default = spec.tool_hooks.context_inject_tools
    assert (literal.query, literal.limit) == ("deployments", 10)
    assert (default.query, default.limit) == ("from_tool_args", 3)
    assert spec.tool_hooks.audit_tools == ("bash",)
    assert (spec.kaos.enabled, spec.kaos.context_limit, spec.kaos.max_session_events) == (False, 20, 500)


@pytest.mark.parametrize(("data", "field"), [
    ([], ""),
    ({"colour": "red"}, "colour"),
    ({"memory": {"auto_save": False}}, "memory.auto_save"),
    ({"memory": {"colour": None}}, "memory.colour"),
    ({"memory": []}, "memory"),
    ({"memory": {"contextLimit": -1}}, "memory.contextLimit"),
    ({"memory": {"contextLimit": 51}}, "memory.contextLimit"),
    ({"memory": {"contextLimit": "5"}}, "memory.contextLimit"),
    ({"memory": {"contextLimit": True}}, "memory.contextLimit"),
    ({"memory": {"contextLimit": 5.0}}, "memory.contextLimit"),
    ({"memory": {"windowSize": 1}}, "memory.windowSize"),
    ({"memory": {"autoSave": "false"}}, "memory.autoSave"),
    ({"memory": {"autoSave": 0}}, "memory.autoSave"),
    ({"memory": {"project": "x" * 201}}, "memory.project"),
    ({"memory": {"project": "İ" * 200}}, "memory.project"),  # lower case has two characters for each
    ({"memory": {"project": "a\x00b"}}, "memory.project"),
    ({"memory": {"project": "a\ud800"}}, "memory.project"),
    ({"toolHooks": {"auditTools": "bash"}}, "toolHooks.auditTools"),
    ({"toolHooks": {"auditTools": [""]}}, "toolHooks.auditTools.0"),
    ({"toolHooks": {"blockedCommands": ["x" * 1_001]}}, "toolHooks.blockedCommands.0"),
    (rules({}), "toolHooks.memorySaveRules.0.tool"),
    (rules({"tool": ""}), "toolHooks.memorySaveRules.0.tool"),
    (rules({"tool": "a"}, {"tool": "b", "scope": "galaxy"}), "toolHooks.memorySaveRules.1.scope"),
    (rules({"tool": "a", "type": "x" * 51}), "toolHooks.memorySaveRules.0.type"),
    (rules({"tool": "a", "matchArgs": {"n": 1}}), "toolHooks.memorySaveRules.0.matchArgs.n"),
    (rules(*[{"tool": "a"}] * 101), "toolHooks.memorySaveRules"),
    (injects({"tool": "a", "limit": 0}), "toolHooks.contextInjectTools.0.limit"),
    (injects({"tool": "a", "limit": 11}), "toolHooks.contextInjectTools.0.limit"),
    ({"kaos": {"type": "local", "maxSessions": 0}}, "kaos.maxSessions"),
    ({"kaos": {"type": "remote"}}, "kaos.type"),
    ({"kaos": {"redisUrl": "x"}}, "kaos.redisUrl"),
])  # fmt: skip
def test_what_may_not_be_is_refused_with_its_path(data, field):
    error = refused(data)
    assert error.field == field
    assert len(str(error)) > 5


@pytest.mark.parametrize(("rule", "told", "field"), [
    ({"matchOutput": "(a"}, "matchOutput is not a valid pattern: missing", "matchOutput"),
    ({"matchOutput": r"(a)\1"}, "matchOutput is not a valid pattern: invalid escape", "matchOutput"),
    ({"matchOutput": "(?=a)"}, "matchOutput is not a valid pattern: invalid perl operator", "matchOutput"),
    ({"matchOutput": "a" * (LONGEST + 1)}, "matchOutput is not a valid pattern: it is longer", "matchOutput"),
    ({"matchArgs": {"ok": "a", "path": "["}}, "matchArgs.path is not a valid pattern", "matchArgs.path"),
])  # fmt: skip
def test_a_pattern_that_is_none_is_refused_naming_its_rule(rule, told, field):
    error = refused(rules({"tool": "ls"}, {"tool": "ls", "matchOutput": "x"}, {"tool": "bash", **rule}))
    assert str(error).startswith(f"toolHooks.memorySaveRules[2] (tool bash): {told}")
    assert error.field == f"toolHooks.memorySaveRules.2.{field}"


def test_the_patterns_of_an_agent_are_bounded_together():
    large = {"tool": "bash", "matchOutput": "(a?){900}z"}  # 1,800 instructions
    few = MOST_INSTRUCTIONS // 1_810
    check_document("coder", rules(*[large] * few))
    error = refused(rules(*[large] * (few + 1)))
    assert "too large together" in str(error)
    assert error.field == f"toolHooks.memorySaveRules.{few}.matchOutput"


def test_a_document_may_be_so_long_and_no_longer():
    line = "x" * 1_000
    fits = {"toolHooks": {"blockedCommands": [line] * (LONGEST_DOCUMENT // 1_004 - 1)}}
    check_document("coder", fits)
    with pytest.raises(TooLarge, match=str(LONGEST_DOCUMENT)):
        check_document("coder", {"toolHooks": {"blockedCommands": [line] * (LONGEST_DOCUMENT // 1_000 + 1)}})


@pytest.mark.parametrize("name", ["a" * 201, "  "])
def test_a_name_that_cannot_be_a_project_needs_one(name):
    assert refused({}, name).field == "memory.project"
    assert (
        agent_spec(name, check_document(name, {"memory": {"project": " Apollo "}}).as_json()).project
        == "apollo"
    )
