"""Which memory the environment asks for."""

import asyncio
import logging

import pytest
from strata_memory.errors import InvalidAnswer
from strata_memory.kaos import LocalMemory, NullMemory, RedisMemory, RemoteMemory, memory_from_env

from sdk.tests.sockets import HEAD, answering, serving

SERVER = {"STRATA_URL": "http://localhost:8002", "STRATA_API_KEY": "mem_1_x", "AGENT_NAME": "planner"}


def test_without_settings_it_is_local_with_the_usual_limits() -> None:
    memory = memory_from_env({})

    assert isinstance(memory, LocalMemory)
    assert (memory.max_sessions, memory.max_events_per_session, memory.context_limit) == (1000, 500, 6)


def test_the_limits_are_those_of_the_environment() -> None:
    limits = {"MEMORY_MAX_SESSIONS": "10", "MEMORY_MAX_SESSION_EVENTS": "5", "MEMORY_CONTEXT_LIMIT": "2"}
    memory = memory_from_env(limits)

    assert isinstance(memory, LocalMemory)
    assert (memory.max_sessions, memory.max_events_per_session, memory.context_limit) == (10, 5, 2)


@pytest.mark.parametrize("no", ["false", "False", "0", "off"])
def test_a_disabled_memory_keeps_nothing(no: str) -> None:
    assert isinstance(memory_from_env({"MEMORY_ENABLED": no, "MEMORY_TYPE": "remote"}), NullMemory)


@pytest.mark.parametrize("kind", ["remote", "Strata"])
def test_a_remote_memory_is_the_agents_own(kind: str) -> None:
    memory = memory_from_env({**SERVER, "MEMORY_TYPE": kind, "MEMORY_MAX_SESSION_EVENTS": "5"})

    assert isinstance(memory, RemoteMemory)
    assert (memory.agent_name, memory.max_events_per_session) == ("planner", 5)


def test_redis_is_a_local_memory_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        memory = memory_from_env({"MEMORY_TYPE": "redis", "MEMORY_REDIS_URL": "redis://localhost"})

    assert isinstance(memory, LocalMemory)
    assert "'redis'" in caplog.text


def test_redis_is_the_server_where_there_is_one(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        memory = memory_from_env({**SERVER, "MEMORY_TYPE": "redis"})

    assert isinstance(memory, RemoteMemory)
    assert memory.agent_name == "planner"
    assert "STRATA_URL" in caplog.text


def test_a_redis_memory_keeps_its_sessions_on_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer = answering(HEAD + b'Content-Length: 17\r\n\r\n{"sessions": [1]}')
    with serving(answer) as (url, requests), caplog.at_level(logging.WARNING):
        for name, value in {**SERVER, "STRATA_URL": url}.items():
            monkeypatch.setenv(name, value)
        memory = RedisMemory("redis://localhost", 10, 5, key_prefix="k", session_ttl_hours=1)
        with pytest.raises(InvalidAnswer):  # an id of a session is text
            asyncio.run(memory.list_sessions())
    assert (memory.max_sessions, memory.max_events_per_session) == (10, 5)
    assert b"x-agent: planner" in requests[0].lower()
    assert b"bearer mem_1_x" in requests[0].lower()
    assert "not in Redis" in caplog.text


def test_a_redis_memory_needs_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRATA_URL", raising=False)
    with pytest.raises(ValueError, match="STRATA_URL"):
        RedisMemory("redis://localhost")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORY_ENABLED", "perhaps"),
        ("MEMORY_MAX_SESSIONS", "many"),
        ("MEMORY_MAX_SESSION_EVENTS", "-1"),
        ("MEMORY_CONTEXT_LIMIT", "6.5"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        memory_from_env({name: value})


def test_a_remote_memory_needs_an_address() -> None:
    with pytest.raises(ValueError, match="STRATA_URL"):
        memory_from_env({**SERVER, "MEMORY_TYPE": "remote", "STRATA_URL": ""})


def test_a_remote_memory_needs_no_key_and_takes_none_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_API_KEY", "mem_1_of_this_process")
    with serving(answering(HEAD + b"Content-Length: 2\r\n\r\n{}")) as (url, requests):
        memory = memory_from_env({"STRATA_URL": url, "MEMORY_TYPE": "remote"})
        with pytest.raises(InvalidAnswer):
            asyncio.run(memory.list_sessions())
    assert b"authorization" not in requests[0].lower()
