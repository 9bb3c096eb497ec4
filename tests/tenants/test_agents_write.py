"""Agents are stored, changed and deleted, by whoever may, and the audit log tells it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connections
from django.utils import timezone

from tenants.agents import agents
from tenants.agents.agents import access_agent, apply_agents, delete_agent, list_agents, put_agent
from tenants.agents.parsing import read_declaration
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.models import Agent, AuditEntry
from tenants.scope import scope

NOW = timezone.now()


def caller_of(tenant, **bindings) -> Caller:
    return Caller(tenant.id, tenant.slug, "k", frozenset({"admin"}), **bindings)


@pytest.fixture
def caller(acme_tenant):
    return caller_of(acme_tenant)


def put(caller, name="coder", now=NOW, **memory):
    return put_agent(caller=caller, name=name, document={"memory": memory}, now=now)


def entries(caller) -> list[AuditEntry]:
    with scope(caller.tenant_id):
        found = AuditEntry.objects.filter(tenant_id=caller.tenant_id, action__startswith="agent.")
        return list(found.order_by("at"))


def stored(caller) -> list[str]:
    return [one.name for one in list_agents(caller=caller, limit=100)]


def test_the_first_time_it_is_made_and_then_changed_only_by_a_difference(caller):
    made = put(caller, contextLimit=7)
    assert (made.created, made.changed, made.agent.version) == (True, True, 1)
    later = NOW + timedelta(hours=1)
    same = put(caller, now=later, contextLimit=7, autoSave=True)
    assert (same.created, same.changed, same.agent.version, same.agent.updated_at) == (False, False, 1, NOW)
    other = put(caller, now=later, contextLimit=8)
    assert (other.created, other.changed, other.agent.version) == (False, True, 2)
    assert (other.agent.created_at, other.agent.updated_at) == (NOW, later)
    assert access_agent(caller=caller, name="coder").spec["memory"]["contextLimit"] == 8


def test_what_is_put_replaces_all_that_was_there(caller):
    put(caller, contextLimit=7, project="Apollo")
    memory = put(caller, autoSave=False).agent.spec["memory"]
    assert (memory["contextLimit"], memory["project"], memory["autoSave"]) == (5, "coder", False)


def test_every_change_is_in_the_audit_log_with_the_fields_that_differ(caller):
    put(caller)
    put(caller, autoSave=False, project="apollo")
    put(caller, autoSave=False, project="apollo")
    delete_agent(caller=caller, name="coder")
    delete_agent(caller=caller, name="coder")
    made, changed, deleted = entries(caller)
    assert [one.action for one in (made, changed, deleted)] == [
        "agent.create",
        "agent.change",
        "agent.delete",
    ]
    assert {one.target for one in (made, changed, deleted)} == {"coder"}
    assert {one.actor for one in (made, changed, deleted)} == {"key:k"}
    assert changed.details == {"version": 2, "fields": ["memory.autoSave", "memory.project"]}


def test_what_is_not_valid_changes_nothing(caller):
    put(caller)
    with pytest.raises(Invalid):
        put(caller, colour="red")
    assert access_agent(caller=caller, name="coder").version == 1


def test_a_deleted_agent_is_unknown_and_may_come_again(caller):
    put(caller, contextLimit=7)
    assert delete_agent(caller=caller, name="coder").found
    assert not delete_agent(caller=caller, name="coder").found
    with pytest.raises(NotFound):
        access_agent(caller=caller, name="coder")
    again = put(caller)
    assert (again.created, again.agent.version) == (True, 1)


def test_agents_are_listed_by_name_from_where_one_says(caller):
    for name in ("b", "a", "c/d", "ü"):
        put(caller, name)
    whole = stored(caller)
    assert sorted(whole) == sorted(["b", "a", "c/d", "ü"])
    assert [one.name for one in list_agents(caller=caller, limit=2)] == whole[:2]
    assert [one.name for one in list_agents(caller=caller, limit=9, after=whole[1])] == whole[2:]


def test_a_key_bound_to_an_agent_reaches_that_one_only(caller, acme_tenant):
    put(caller, "coder")
    put(caller, "spy")
    bound = caller_of(acme_tenant, agent_id="coder")
    assert stored(bound) == ["coder"]
    assert put(bound, "coder", autoSave=False).changed
    for attempt in (
        lambda: access_agent(caller=bound, name="spy"),
        lambda: put(bound, "spy"),
        lambda: delete_agent(caller=bound, name="spy"),
    ):
        with pytest.raises(Forbidden):
            attempt()


def test_a_key_bound_to_a_project_sees_its_agents_and_changes_none(caller, acme_tenant):
    put(caller, "coder", project="Apollo")
    put(caller, "spy", project="zeus")
    bound = caller_of(acme_tenant, project="apollo")
    assert stored(bound) == ["coder"]
    assert access_agent(caller=bound, name="coder").name == "coder"
    for attempt in (
        lambda: access_agent(caller=bound, name="spy"),
        lambda: put(bound, "coder"),
        lambda: delete_agent(caller=bound, name="coder"),
        lambda: put(caller_of(acme_tenant, user_id="alice"), "coder"),
    ):
        with pytest.raises(Forbidden):
            attempt()


def test_globex_has_agents_of_its_own(caller, globex_tenant):
    put(caller, "coder")
    theirs = caller_of(globex_tenant)
    assert stored(theirs) == []
    with pytest.raises(NotFound):
        access_agent(caller=theirs, name="coder")
    assert put(theirs, "coder", autoSave=False).created
    assert not delete_agent(caller=theirs, name="spy").found
    assert access_agent(caller=caller, name="coder").spec["memory"]["autoSave"] is True


def declared(name, **memory):
    return read_declaration({"memory": memory}, name=name)


def test_several_are_applied_all_or_none(caller, monkeypatch):
    put(caller, "b")
    done = apply_agents(
        tenant_id=caller.tenant_id,
        actor="command:test",
        declared=[declared("c"), declared("b"), declared("a", autoSave=False)],
        now=NOW,
    )
    assert [(one.agent.name, one.created) for one in done] == [("c", True), ("b", False), ("a", True)]
    assert {one.actor for one in entries(caller)} == {"key:k", "command:test"}
    insert = agents._insert
    monkeypatch.setattr(agents, "_insert", lambda made: made.name != "z" and insert(made))
    with pytest.raises(Conflict):
        apply_agents(tenant_id=caller.tenant_id, actor="t", declared=[declared("z"), declared("y")], now=NOW)
    assert stored(caller) == ["a", "b", "c"]


def test_writers_of_one_name_at_the_same_time_lose_nothing(caller, monkeypatch):
    """All have seen that there is none: PostgreSQL decides who makes it, and the others change it."""
    count = 6
    barrier, insert = threading.Barrier(count), agents._insert

    def wait(made):
        barrier.wait(10)
        return insert(made)

    monkeypatch.setattr(agents, "_insert", wait)

    def attempt(number):
        try:
            return put(caller, contextLimit=number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(attempt, range(count)))
    assert [one.created for one in done].count(True) == 1
    assert sorted(one.agent.version for one in done) == list(range(1, count + 1))
    assert len(entries(caller)) == count
    assert stored(caller) == ["coder"]


def test_the_database_refuses_a_second_of_the_same_name(caller):
    agent = put(caller).agent
    agent.pk = None
    with pytest.raises(IntegrityError), scope(caller.tenant_id):
        Agent.objects.create(
            tenant_id=caller.tenant_id, name="coder", project="x", spec={}, created_at=NOW, updated_at=NOW
        )
