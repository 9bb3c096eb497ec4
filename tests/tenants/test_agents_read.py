"""What is declared now: from memory, for so long, and never another tenant's."""

import time

import pytest
from django.utils import timezone

from tenants.agents import reading
from tenants.agents.agents import delete_agent, put_agent
from tenants.agents.reading import agent_behind, agent_of, read_agent
from tenants.caller import Caller

NOW = timezone.now()


class Clock:
    now = time.monotonic()

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(reading, "time", clock)
    return clock


@pytest.fixture
def questions(monkeypatch) -> list:
    """What PostgreSQL is asked."""
    asked: list = []
    for name in ("_ask_name", "_ask_project"):
        ask = getattr(reading, name)
        monkeypatch.setattr(
            reading, name, lambda question, ask=ask: asked.append(question[1:]) or ask(question)
        )
    monkeypatch.setattr(reading, "_cache", reading._AnswerCache())
    return asked


@pytest.fixture
def caller(acme_tenant, questions) -> Caller:
    return caller_of(acme_tenant)


def caller_of(tenant, **bindings) -> Caller:
    return Caller(tenant.id, tenant.slug, "k", frozenset({"admin"}), **bindings)


def put(caller, name="coder", **memory):
    return put_agent(caller=caller, name=name, document={"memory": memory}, now=NOW)


def read(caller, name="coder"):
    return read_agent(tenant_id=caller.tenant_id, name=name)


def test_it_is_read_once_and_again_when_its_time_is_over(caller, clock, questions, settings):
    put(caller, contextLimit=7)
    for _time in range(3):
        assert read(caller).memory.context_limit == 7
    assert questions == [("name", "coder")]
    clock.now += settings.API_KEY_CACHE_SECONDS + 0.1
    read(caller)
    assert len(questions) == 2


def test_that_there_is_none_is_remembered_too(caller, questions):
    for _time in range(3):
        assert read(caller, "nobody") is None
        assert agent_of(caller=caller, project="nothing") is None
    assert len(questions) == 2
    assert read(caller, "") is None
    assert agent_of(caller=caller, project="  ") is None
    assert len(questions) == 2


def test_whoever_changes_an_agent_sees_it_at_once(caller):
    assert read(caller) is None
    assert agent_of(caller=caller, project="coder") is None
    put(caller)
    assert read(caller).memory.auto_save is True
    assert agent_of(caller=caller, project="coder").name == "coder"
    put(caller, autoSave=False, project="apollo")
    assert read(caller).memory.auto_save is False
    assert agent_of(caller=caller, project="coder") is None
    assert agent_of(caller=caller, project="Apollo").name == "coder"
    delete_agent(caller=caller, name="coder")
    assert read(caller) is None
    assert agent_of(caller=caller, project="apollo") is None


def test_what_was_read_before_a_change_is_not_kept_after_it(caller, monkeypatch):
    put(caller, contextLimit=1)
    ask = reading._ask_name

    def change_meanwhile(question):
        answer = ask(question)
        monkeypatch.setattr(reading, "_ask_name", ask)
        put(caller, contextLimit=2)
        return answer

    monkeypatch.setattr(reading, "_ask_name", change_meanwhile)
    assert read(caller).memory.context_limit == 1
    assert read(caller).memory.context_limit == 2


def test_a_bound_key_means_its_agent_whatever_the_project(caller, acme_tenant):
    put(caller, "coder", project="apollo")
    put(caller, "spy", project="zeus")
    bound = caller_of(acme_tenant, agent_id="spy")
    assert agent_of(caller=bound, project="apollo").name == "spy"
    unknown = caller_of(acme_tenant, agent_id="nobody")
    assert agent_of(caller=unknown, project="apollo") is None


def test_a_project_means_its_only_agent_without_regard_to_case(caller):
    put(caller, "Coder")
    assert agent_of(caller=caller, project=" CODER ").name == "Coder"
    put(caller, "spy", project="coder")
    assert agent_of(caller=caller, project="coder") is None
    delete_agent(caller=caller, name="Coder")
    assert agent_of(caller=caller, project="coder").name == "spy"


def test_a_session_without_an_agent_is_that_of_its_project(caller):
    put(caller, "coder", project="apollo")
    tenant = caller.tenant_id
    assert agent_behind(tenant_id=tenant, agent_id="", project="Apollo").name == "coder"
    assert agent_behind(tenant_id=tenant, agent_id="spy", project="apollo") is None
    assert agent_behind(tenant_id=tenant, agent_id="", project="") is None


def test_globex_is_told_nothing(caller, globex_tenant):
    put(caller)
    read(caller)
    agent_of(caller=caller, project="coder")
    assert read(caller_of(globex_tenant)) is None
    assert agent_of(caller=caller_of(globex_tenant), project="coder") is None


def test_only_so_many_answers_are_kept(caller, monkeypatch):
    cache = reading._AnswerCache(limit=10)
    monkeypatch.setattr(reading, "_cache", cache)
    for number in range(25):
        read(caller, f"made up {number}")
    assert len(cache._kept) <= 10
