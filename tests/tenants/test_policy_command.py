"""`manage.py policy`."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from tenants.models import AuditEntry
from tenants.policy.reading import read_policy
from tenants.router import admin_role


@pytest.fixture
def policy(acme_tenant):
    def run(*args: str, agent: str = "") -> str:
        out = io.StringIO()
        call_command("policy", acme_tenant.slug, "--agent", agent, *args, stdout=out)
        return out.getvalue()

    return run


def row(text: str, field: str) -> list[str]:
    (found,) = [line.split() for line in text.splitlines() if line.split()[:1] == [field]]
    return found[1:]


def test_it_shows_what_holds_and_which_level_decides_it(policy):
    policy("set", "recall.top_k=8", "working.turns=4")
    policy("set", "recall.top_k=3", agent="coder")
    tenant, agent = policy("show"), policy("show", agent="coder")
    assert tenant.startswith("Tenant, version 1\n")
    assert row(tenant, "recall.top_k") == ["8", "tenant"]
    assert row(tenant, "limits.episode_chars") == ["1000000"]
    assert agent.startswith("Agent coder, version 1\n")
    assert row(agent, "recall.top_k") == ["3", "agent"]
    assert row(agent, "working.turns") == ["4", "tenant"]


def test_values_are_json_or_plain_text_and_null_gives_back(policy, acme_tenant):
    told = policy("set", "recall.top_k=7", "write.episodes=off", "summary.on_end=false")
    assert "recall.top_k: (left open) -> 7" in told
    held = read_policy(tenant_id=acme_tenant.id)
    assert (held.recall.top_k, held.write.episodes, held.summary.on_end) == (7, "off", False)
    assert "recall.top_k: 7 -> (left open)" in policy("set", "recall.top_k=null")
    assert policy("set", "recall.top_k=null") == "Nothing to change; version 2 stands.\n"


def test_versions_are_listed_compared_and_brought_back(policy):
    assert policy("versions") == "Tenant decides nothing for itself yet.\n"
    policy("set", "recall.top_k=8", "--note", "more to read")
    policy("set", "recall.top_k=9")
    assert policy("diff", "1", "2") == "  recall.top_k: 8 -> 9\n"
    assert policy("diff", "2", "2") == "  no difference\n"
    assert policy("rollback", "1") == "Tenant, version 3\n  recall.top_k: 9 -> 8\n"
    newest, _second, first = policy("versions").splitlines()
    assert newest.split()[0] == "3"
    assert newest.endswith("command:policy  rollback to version 1")
    assert first.endswith("more to read")


def test_the_audit_log_names_the_command(policy, acme_tenant):
    policy("set", "recall.top_k=8")
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme_tenant, action="policy.write")
    assert entry.actor == "command:policy"


def test_the_schema_has_every_meaning(policy):
    schema = json.loads(policy("schema"))
    assert schema["$defs"]["Recall"]["properties"]["top_k"]["default"] == 5


@pytest.mark.parametrize(("args", "sentence"), [
    (("set", "recall.top_k=999"), "^recall.top_k: .*less than or equal to 200"),
    (("set", "recall.colour=red"), "^recall.colour: Unknown field"),
    (("set", "recall.top_k"), "Write FIELD=VALUE"),
    (("set", "top_k=8"), "Write FIELD=VALUE"),
    (("set", "recall.alpha=NaN"), "^recall.alpha: "),
    (("rollback", "1"), "no version 1"),
    (("diff", "0", "7"), "no version 7"),
])  # fmt: skip
def test_what_cannot_be_done_is_told_with_a_sentence(policy, args, sentence):
    with pytest.raises(CommandError, match=sentence):
        policy(*args)


def test_an_unknown_tenant_is_told(policy):
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        call_command("policy", "nobody", "show")
