"""The forms in which an agent is declared: plain, as a Kubernetes resource, as JSON and as YAML."""

import json
import time

import pytest

from tenants.agents.parsing import DEEPEST, MOST_VALUES, parse_json, parse_yaml, read_declaration
from tenants.errors import Invalid

AGENTOPS = b"""
apiVersion: agents.example.io/v1alpha1
kind: Agent
metadata:
  name: coder
  namespace: agents
  creationTimestamp: 2026-02-30T00:00:00Z   # no day of any calendar
spec:
  mode: daemon
  model: {name: large, temperature: 0.2}
  providers: &providers [{name: one}]
  others: *providers
  memory:
    serverRef: memory
    project: Apollo
    contextLimit: 0
    windowSize: 20
    autoSave: no
  toolHooks:
    memorySaveRules:
      - tool: bash
        matchOutput: "error|panic|fatal"
        type: bugfix
      - tool: kubectl_apply
        type: decision
    contextInjectTools:
      - tool: bash
        query: from_tool_args
        limit: 3
status:
  phase: Running
"""
KAOS = b"""
apiVersion: kaos.tools/v1alpha1
kind: Agent
metadata: {name: helper}
spec:
  modelAPI: large
  config:
    description: helps
    memory:
      enabled: true
      type: local
      contextLimit: 6
      maxSessions: 1000
      maxSessionEvents: 500
"""


def resource(spec=None, **fields):
    return {
        "apiVersion": "v1", "kind": "Agent", "metadata": {"name": "coder"}, "spec": spec or {}, **fields
    }  # fmt: skip


def refused(data, name=None) -> Invalid:
    with pytest.raises(Invalid) as caught:
        read_declaration(data, name=name)
    return caught.value


def test_an_agentops_resource_is_read_and_its_other_blocks_are_left_alone():
    (data,) = parse_yaml(AGENTOPS)
    found = read_declaration(data)
    memory, hooks = found.document.memory, found.document.tool_hooks
    assert (found.name, memory.server_ref, memory.project) == ("coder", "memory", "Apollo")
    assert (memory.context_limit, memory.auto_save, memory.auto_search) == (0, False, True)
    assert [rule.tool for rule in hooks.memory_save_rules] == ["bash", "kubectl_apply"]
    assert found.document.kaos is None


def test_a_kaos_resource_keeps_its_block_apart():
    found = read_declaration(parse_yaml(KAOS)[0], name="helper").document
    assert (found.memory.context_limit, found.memory.project) == (5, "helper")
    assert (found.kaos.context_limit, found.kaos.max_sessions) == (6, 1_000)


def test_a_spec_alone_is_of_the_agent_that_the_path_names():
    spec = {"config": {"memory": {"maxSessions": 9}}, "modelAPI": "large"}
    found = read_declaration({"spec": spec}, name="helper")
    assert (found.name, found.document.kaos.max_sessions) == ("helper", 9)
    assert refused({"spec": {"config": {"memory": {"maxSessions": 0}}}}, "helper").field == (
        "spec.config.memory.maxSessions"
    )
    assert refused({"spec": spec}).field == "apiVersion", "without a path it names nobody"


def test_json_says_the_same_as_yaml():
    data = parse_yaml(AGENTOPS)[0]
    json_text = json.dumps(data).encode()
    assert read_declaration(parse_json(json_text)) == read_declaration(data)
    assert parse_yaml(json_text) == [data]


@pytest.mark.parametrize(("data", "field"), [
    (resource({"memory": {"project": "x"}}), "spec.memory.serverRef"),
    (resource({"memory": {"serverRef": ""}}), "spec.memory.serverRef"),
    (resource({"memory": {"serverRef": "m", "colour": 1}}), "spec.memory.colour"),
    (resource({"memory": "large"}), "spec.memory"),
    (resource({"toolHooks": {"colour": 1}}), "spec.toolHooks.colour"),
    (resource({"toolHooks": {"memorySaveRules": [{"tool": "a", "matchOutput": "("}]}}),
     "spec.toolHooks.memorySaveRules.0.matchOutput"),
    (resource({"config": {"memory": {"type": "remote"}}}), "spec.config.memory.type"),
    (resource({"config": {"memory": 7}}), "spec.config.memory"),
    (resource({"config": 7}), "spec.config"),
    (resource(kind="Deployment"), "kind"),
    (resource(kind=None), "kind"),
    (resource(metadata={}), "metadata.name"),
    (resource(metadata={"name": 7}), "metadata.name"),
    (resource(metadata={"name": "x" * 256}), "metadata.name"),
    (resource(metadata={"name": "a\x00"}), "metadata.name"),
    (resource(metadata={"name": "a/"}), "metadata.name"),
    (resource(spec=[1]), "spec"),
    ({"kind": "Agent"}, "apiVersion"),
    ({"memory": {}}, "apiVersion"),
    ([], ""),
    (None, ""),
    ("x", ""),
])  # fmt: skip
def test_a_resource_that_is_none_is_refused_with_its_path(data, field):
    assert refused(data).field == field


def test_a_resource_without_memory_needs_no_server():
    assert read_declaration(resource()).document.memory.server_ref is None


def test_a_resource_under_another_name_is_refused():
    assert refused(resource(), name="spy").field == "metadata.name"
    assert read_declaration(resource(), name="coder").name == "coder"


def test_the_plain_document_needs_a_name_from_elsewhere():
    assert read_declaration({"memory": {"autoSave": False}}, name="coder").name == "coder"
    assert refused({"metadata": {"name": "coder"}}, name="coder").field == "metadata"


def test_several_documents_stand_in_one_text():
    assert parse_yaml(b"--- {a: 1}\n---\n--- [2]\n") == [{"a": 1}, None, [2]]
    assert parse_yaml(b"") == []


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join(['*' + before] * 10)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "- &a0 [x]\n" + "".join(f"- &a{n + 1} [*a{n}]\n" for n in range(5_000))


@pytest.mark.parametrize(("text", "reason"), [
    ("a: [", "line"),
    ("a: 1\na: 2", "'a' stands twice"),
    ("a: {b: 1, c: 2, b: 3}", "'b' stands twice"),
    (LAUGHS, f"more than {MOST_VALUES} values"),
    (MERGES, f"more than {MOST_VALUES} values"),
    (CHAIN, f"more than {MOST_VALUES} values"),
    ("a: &a [*a]", "names nothing before it"),
    ("a: *b", "names nothing before it"),
    ("[" * 100_000, f"deeper than {DEEPEST}"),
    ("{a: " * 100_000, f"deeper than {DEEPEST}"),
    ("- " * 100_000, f"deeper than {DEEPEST}"),
    ("- x\n" * (MOST_VALUES + 1), f"more than {MOST_VALUES} values"),
    ("a: !!python/object/apply:os.system [id]", "could not determine a constructor"),
    ("a: !custom x", "could not determine a constructor"),
    ("a: " + "9" * 5_000, "limit"),
    ("a: \x00", "control characters"),
    ("? [1]\n: 2", "unhashable"),
    ("%YAML 9.0\n---\na: 1", "incompatible"),
])  # fmt: skip
def test_what_is_not_yaml_or_too_much_of_it_is_refused_at_once(text, reason):
    started = time.thread_time()
    with pytest.raises(Invalid, match=reason) as caught:
        parse_yaml(text.encode())
    assert time.thread_time() - started < 2
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("source", [b"\xff\xfe", b"a: \xed\xa0\x80"])
def test_bytes_that_are_not_utf_8_are_refused(source):
    for parse in (parse_yaml, parse_json):
        with pytest.raises(Invalid):
            parse(source)


def test_a_name_that_is_merged_in_may_be_written_over():
    (data,) = parse_yaml(b"base: &base {autoSave: false, project: x}\nmemory: {<<: *base, project: y}")
    assert data["memory"] == {"autoSave": False, "project": "y"}


def test_dates_and_versions_are_text():
    assert parse_yaml(b"a: 2026-01-01") == [{"a": "2026-01-01"}]
