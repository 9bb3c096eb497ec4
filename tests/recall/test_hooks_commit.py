"""What a hook leaves behind when something goes wrong on the way."""

import pytest
from django.utils import timezone

from observations.models import Observation
from observations.validation import InvalidObservation
from recall.hooks import lookups, results
from recall.hooks.captions import Capture
from recall.hooks.rules import ToolResult
from tenants.agents.agents import put_agent
from tenants.scope import scope
from tenants.system import system_caller
from tests.observations.notes import note
from working.models import Session
from working.redis import RedisAway
from working.types import SessionAddress

HOOKS = {
    "memorySaveRules": [{"tool": "bash"}],
    "auditTools": ["bash"],
    "contextInjectTools": [{"tool": "bash", "query": "cluster"}],
}


@pytest.fixture(autouse=True)
def declared(acme):
    document = {"memory": {"project": "orders"}, "toolHooks": HOOKS}
    put_agent(caller=system_caller(acme.tenant.id), name="coder", document=document, now=timezone.now())


def count(caller, model):
    with scope(caller.tenant_id):
        return model.objects.filter(tenant_id=caller.tenant_id).count()


def record(caller):
    return results.record_result(
        caller=caller,
        agent="coder",
        address=SessionAddress("s1"),
        result=ToolResult("bash", {}, "it works"),
        now=timezone.now(),
    )


def test_all_of_a_result_is_saved_or_nothing(acme, monkeypatch):
    monkeypatch.setattr(results, "audit", lambda _result: Capture("audit", " ", "content", ()))
    with pytest.raises(InvalidObservation):
        record(acme.caller)
    assert count(acme.caller, Observation) == 0
    monkeypatch.undo()
    assert len(record(acme.caller).captured) == 2
    assert (count(acme.caller, Observation), count(acme.caller, Session)) == (2, 1)


def test_rules_are_judged_before_the_commit_begins(acme, monkeypatch):
    """Patterns take their time: no connection waits for them."""
    from tenants.scope import _tenant

    judged = results.judge
    seen = []
    monkeypatch.setattr(results, "judge", lambda *given: seen.append(_tenant.get()) or judged(*given))
    record(acme.caller)
    assert seen == [None]


def test_without_redis_a_lookup_answers_and_leaves_no_breadcrumb(acme, monkeypatch, caplog):
    def away(**_named):
        raise RedisAway("Redis is away.")

    note(acme.caller, "the cluster of Alice", session_id="other")
    monkeypatch.setattr(lookups, "append_events", away)
    found = lookups.look_up(
        caller=acme.caller,
        agent="coder",
        session_id="s1",
        user_id=None,
        tool="bash",
        args={},
        now=timezone.now(),
    )
    assert len(found.memories()) == 1
    assert "hook_breadcrumbs_skipped" in caplog.text
    assert "Alice" not in caplog.text
