"""Which save rules take a tool's result, and what is looked up before its call."""

import pytest

from recall.hooks.rules import ToolResult, judge, query_of
from tenants.agents import patterns
from tenants.agents.spec import MemorySaveRule


def rule(tool="bash", **more):
    return MemorySaveRule.model_validate({"tool": tool} | more)


def refusal(one, output="it works", args=None, error=""):
    (verdict,) = judge([one], ToolResult("bash", args or {}, output, error))
    return verdict.refusal


def test_a_rule_without_conditions_takes_every_result():
    assert refusal(rule()) is None


@pytest.mark.parametrize("tool", ["Bash", "bash ", "bas", "bash2", "b.sh"])
def test_a_rule_is_for_exactly_its_tool(tool):
    assert judge([rule(tool)], ToolResult("bash", output="it works")) == []


def test_all_rules_of_a_tool_are_tried_and_known_by_their_place():
    rules = [rule(matchOutput="never"), rule("kubectl"), rule(type="config"), rule(matchOutput="works$")]
    found = judge(rules, ToolResult("bash", output="it works"))
    assert [(one.place, one.refusal) for one in found] == [(0, "output_not_matched"), (2, None), (3, None)]


@pytest.mark.parametrize(("pattern", "taken"), [
    ("works", True), ("error|works", True), ("^works", False), ("works$", True), ("(?i)WORKS", True),
    ("WORKS", False),
])  # fmt: skip
def test_a_pattern_is_found_anywhere_in_the_output(pattern, taken):
    assert refusal(rule(matchOutput=pattern)) == (None if taken else "output_not_matched")


def test_what_lies_beyond_50000_characters_is_not_matched():
    output = "é" * 49_999 + "ab"
    assert refusal(rule(matchOutput="a$"), output) is None
    assert refusal(rule(matchOutput="b"), output) == "output_not_matched"
    found = rule(matchArgs={"command": "b"})
    assert refusal(found, args={"command": output}) == "arg_not_matched"


@pytest.mark.parametrize("value", [None, "", 5, True, ["git"], {"a": "git"}])
def test_an_argument_that_is_no_text_is_missing(value):
    assert refusal(rule(matchArgs={"command": "git"}), args={"command": value}) == "arg_missing"


def test_all_arguments_must_match():
    both = rule(matchArgs={"command": "^git", "path": "src"})
    assert refusal(both, args={"command": "git add", "path": "/src/a"}) is None
    assert refusal(both, args={"command": "git add", "path": "/lib"}) == "arg_not_matched"
    assert refusal(both, args={"command": "a git", "path": "/src/a"}) == "arg_not_matched"
    assert refusal(both, args={"command": "git add"}) == "arg_missing"


def test_an_error_is_no_result_whatever_else_came():
    assert refusal(rule(matchOutput="never"), error="killed") == "tool_error"


@pytest.mark.parametrize("output", ["", " ", "\n\t"])
def test_of_an_empty_output_nothing_can_be_saved(output):
    assert refusal(rule(), output) == "output_empty"
    assert refusal(rule(matchOutput="x"), output) == "output_not_matched"


@pytest.mark.parametrize("conditions", [{"matchOutput": "(a"}, {"matchArgs": {"command": "(a"}}])
def test_a_pattern_that_cannot_be_compiled_refuses_and_lets_the_other_rules_be(conditions):
    result = ToolResult("bash", {"command": "ls"}, "it works")
    found = judge([rule(**conditions), rule()], result)
    assert [one.refusal for one in found] == ["invalid_regex", None]


def test_the_text_of_a_pattern_is_matched_once_per_rule(monkeypatch):
    """However many rules there are, none sees more than its share of the text."""
    seen = []
    monkeypatch.setattr("recall.hooks.rules.matches", lambda pattern, text: seen.append(len(text)) or True)
    judge([rule(matchOutput="x")] * 3, ToolResult("bash", output="x" * 1_000_000))
    assert seen == [50_000] * 3
    assert patterns.matches("x", "x")


@pytest.mark.parametrize("query", ["from_tool_args", ""])
@pytest.mark.parametrize(("args", "found"), [
    ({"path": "p", "query": "q", "command": "c"}, "c"),
    ({"path": "p", "query": "q"}, "q"),
    ({"path": "p", "query": "", "command": None}, "p"),
    ({"path": "p", "command": ["c"]}, "p"),
    ({"path": "p", "command": "  "}, "p"),
    ({"file": "f"}, ""),
    ({}, ""),
])  # fmt: skip
def test_the_query_is_the_first_argument_that_says_something(query, args, found):
    assert query_of(query, args) == found


def test_any_other_query_is_taken_as_it_stands():
    assert query_of("deploy rules", {"command": "c"}) == "deploy rules"
