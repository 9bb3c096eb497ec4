"""How captures and audits are worded."""

import pytest

from observations.validation import check
from recall.hooks.captions import audit, capture, shorten
from recall.hooks.rules import ToolResult
from tenants.agents.spec import MemorySaveRule

RULE = MemorySaveRule(tool="bash")


def checked(one):
    """The capture itself, which is what an observation may be."""
    check(
        session_id="s", type=one.type, title=one.title, content=one.content, project="p", scope=one.scope,
        topic_key=one.topic_key, tags=one.tags,
    )  # fmt: skip
    return one


@pytest.mark.parametrize(("args", "title"), [
    ({}, "Auto-captured: bash"),
    ({"command": "ls -l", "path": "/x"}, "Auto-captured: bash — ls -l"),
    ({"command": "", "path": "/x"}, "Auto-captured: bash — /x"),
    ({"command": 5, "path": "/x"}, "Auto-captured: bash — /x"),
    ({"query": "q"}, "Auto-captured: bash"),
    ({"command": "é" * 81}, "Auto-captured: bash — " + "é" * 80),
])  # fmt: skip
def test_the_title_names_tool_and_command(args, title):
    assert checked(capture(RULE, ToolResult("bash", args, "out"))).title == title


def test_tags_type_and_scope_are_the_rules_and_the_tools():
    rule = MemorySaveRule.model_validate({"tool": "bash", "type": "bugfix", "scope": "global"})
    one = checked(capture(rule, ToolResult("bash", {}, "out")))
    assert (one.type, one.scope, one.topic_key) == ("bugfix", "global", "")
    assert one.tags == ("auto-capture", "hook", "bash")
    assert (capture(RULE, ToolResult("bash")).type, RULE.scope) == ("discovery", "project")


def test_the_output_is_cut_to_1000_characters():
    assert checked(capture(RULE, ToolResult("bash", {}, "é" * 1_000))).content == "é" * 1_000
    assert checked(capture(RULE, ToolResult("bash", {}, "é" * 1_001))).content == "é" * 1_000 + "..."


def test_an_audit_says_how_the_call_ended_and_how_long_it_took():
    assert checked(audit(ToolResult("bash", duration_ms=12))).title == "Audit: bash (success, 12ms)"
    assert audit(ToolResult("bash", duration_ms=0)).title == "Audit: bash (success, 0ms)"
    assert audit(ToolResult("bash")).title == "Audit: bash (success)"
    one = checked(audit(ToolResult("bash", {"command": "x"}, "out", "e" * 201, 7)))
    assert (one.title, one.type, one.topic_key) == ("Audit: bash (error, 7ms)", "audit", "audit/bash")
    assert one.tags == ("audit", "hook", "bash")
    assert one.content.splitlines() == [
        "tool: bash", "outcome: error", "duration: 7ms", "arguments: command", f"error: {'e' * 200}...",
    ]  # fmt: skip


def test_an_audit_holds_no_values():
    result = ToolResult("bash", {"password": "sesame", "headers": {"cookie": "sesame"}}, "sesame")
    one = audit(result)
    assert "password, headers" in one.content
    assert "sesame" not in str(one)


@pytest.mark.parametrize("tool", ["x" * 200, "é" * 200, "💡" * 200, " "])
def test_whatever_the_names_are_an_observation_takes_them(tool):
    args = {"💡" * 5_000: 1, "command": "💡" * 100, "x" * 100_000: 2}
    rule = MemorySaveRule.model_validate({"tool": tool, "type": "é" * 25})
    checked(capture(rule, ToolResult(tool, args, "💡" * 60_000)))
    checked(audit(ToolResult(tool, args, "", "💡" * 60_000, 2**53)))


def test_long_names_of_tools_keep_topics_of_their_own():
    one, other = (audit(ToolResult("é" * 198 + end)).topic_key for end in "ab")
    assert one != other
    assert audit(ToolResult("x" * 194)).topic_key == "audit/" + "x" * 194


def test_what_is_not_too_long_is_not_shortened():
    assert (shorten("abc", 3), shorten("abcd", 3)) == ("abc", "abc...")
