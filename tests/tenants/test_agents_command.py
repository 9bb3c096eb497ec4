"""`manage.py apply_agent`."""

import io
import json
import sys

import pytest
import yaml
from django.core.management import CommandError, call_command

from tenants.agents.reading import read_agent
from tenants.models import AuditEntry
from tenants.router import admin_role

AGENT = """
apiVersion: agents.example.io/v1alpha1
kind: Agent
metadata: {{name: {name}}}
spec:
  memory: {{serverRef: memory, contextLimit: {limit}}}
  toolHooks:
    memorySaveRules: [{{tool: bash, matchOutput: "{pattern}"}}]
"""


def agent(name, limit=5, pattern="error"):
    return AGENT.format(name=name, limit=limit, pattern=pattern)


@pytest.fixture
def apply(acme_tenant, tmp_path):
    def run(text: str, name: str = "agents.yaml") -> str:
        path, out = tmp_path / name, io.StringIO()
        path.write_text(text)
        call_command("apply_agent", str(path), "--tenant", acme_tenant.slug, stdout=out)
        return out.getvalue()

    return run


def test_it_says_what_became_of_each(apply, acme_tenant):
    assert apply(agent("a")) == "agent a created, version 1\n"
    told = apply("---\n".join([agent("b"), agent("a", limit=7), "\n"]))
    assert told == "agent b created, version 1\nagent a updated, version 2\n"
    assert apply(agent("a", limit=7)) == "agent a unchanged, version 2\n"
    assert read_agent(tenant_id=acme_tenant.id, name="a").memory.context_limit == 7
    with admin_role():
        actors = set(
            AuditEntry.objects.filter(tenant=acme_tenant, target="a").values_list("actor", flat=True)
        )
    assert actors == {"command:apply_agent"}


def test_json_is_read_from_a_file_of_that_name(apply):
    resource = {
        "apiVersion": "v1", "kind": "Agent", "metadata": {"name": "💡"},
        "spec": {"config": {"memory": {"enabled": False}}},
    }  # fmt: skip
    assert apply(json.dumps(resource), "agent.json") == "agent 💡 created, version 1\n"


def test_a_dash_is_stdin(acme_tenant, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(agent("a").encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    out = io.StringIO()
    call_command("apply_agent", "-", "--tenant", acme_tenant.slug, stdout=out)
    assert out.getvalue() == "agent a created, version 1\n"


@pytest.mark.parametrize(("text", "sentence"), [
    (agent("b", pattern="(a"),
     r"agents.yaml, document 2: spec.toolHooks.memorySaveRules.0.matchOutput: "
     r"toolHooks.memorySaveRules\[0\] \(tool bash\): matchOutput is not a valid pattern: missing"),
    (agent("b", limit=51), "agents.yaml, document 2: spec.memory.contextLimit: "),
    (agent("a"), "agents.yaml, document 2: Agent a stands twice"),
    ("kind: ConfigMap", "agents.yaml, document 2: apiVersion: This field is required"),
    ("[]", "agents.yaml, document 2: Must be an object"),
    ("a: [", "agents.yaml: This is not valid YAML: .*line"),
])  # fmt: skip
def test_if_one_is_not_valid_it_is_named_and_none_is_applied(apply, acme_tenant, text, sentence):
    with pytest.raises(CommandError, match=sentence) as caught:
        apply(agent("a") + "---\n" + text)
    assert caught.value.returncode == 1
    assert read_agent(tenant_id=acme_tenant.id, name="a") is None


def test_a_file_without_agents_and_no_file_are_told(apply, acme_tenant):
    with pytest.raises(CommandError, match="no agent in it"):
        apply("# nothing yet\n")
    with pytest.raises(CommandError, match=r"nowhere\.yaml: No such file"):
        call_command("apply_agent", "nowhere.yaml", "--tenant", acme_tenant.slug)


def test_a_tenant_must_be_known_or_the_only_one(apply, acme_tenant, globex_tenant, tmp_path):
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        call_command("apply_agent", "-", "--tenant", "nobody")
    with pytest.raises(CommandError, match="--tenant SLUG"):
        call_command("apply_agent", "-")


def listed(*agents):
    items = [json.loads(json.dumps(yaml.safe_load(one))) for one in agents]
    return yaml.safe_dump({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}})


def test_a_list_is_unfolded(apply):
    assert apply(listed(agent("a"), agent("b"))) == (
        "agent a created, version 1\nagent b created, version 1\n"
    )
    assert apply(listed(agent("a"))) == "agent a unchanged, version 1\n"


@pytest.mark.parametrize(("text", "sentence"), [
    (listed(agent("a"), agent("b", limit=51)), "agents.yaml, document 1, item 2: spec.memory.contextLimit: "),
    (listed(agent("a"), agent("a")), "agents.yaml, document 1, item 2: Agent a stands twice"),
    (listed(agent("a")) + "---\n" + agent("a"), "agents.yaml, document 2: Agent a stands twice"),
    (listed(agent("a"), "kind: ConfigMap"), "agents.yaml, document 1, item 2: apiVersion: "),
    (listed(agent("a"), listed(agent("b"))), "agents.yaml, document 1, item 2: kind: "),
    (listed(agent("a"), "null"), "agents.yaml, document 1, item 2: Must be an object"),
    ("{apiVersion: v1, kind: List}", "agents.yaml, document 1: items: Must be a list"),
    ("{apiVersion: v1, kind: List, items: []}", "There is no agent in it"),
])  # fmt: skip
def test_what_is_wrong_in_a_list_is_named_and_none_is_applied(apply, acme_tenant, text, sentence):
    with pytest.raises(CommandError, match=sentence):
        apply(text)
    assert read_agent(tenant_id=acme_tenant.id, name="a") is None
