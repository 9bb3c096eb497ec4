"""The deployment's bounds, for agents that declare none of their own."""

import pytest
from django.test import Client

from memoryproject.checks import check_memory_type
from tests.kaos.asking import declare

JSON = "application/json"


@pytest.fixture
def here(acme):
    """Requests to this process, whose settings a test may change."""
    return Client(headers={"Authorization": f"Bearer {acme.key}", "X-Agent": "coder"})


def begin(here, session):
    body = {"app_name": "agent", "user_id": "ana", "session_id": session}
    assert here.post("/memory/sessions", body, content_type=JSON).json() == {"session_id": session}


def test_they_hold_unless_the_agent_declares_its_own(acme, here, settings):
    settings.MEMORY_MAX_SESSIONS, settings.MEMORY_MAX_SESSION_EVENTS, settings.MEMORY_CONTEXT_LIMIT = 2, 3, 1
    settings.API_KEY_CACHE_SECONDS = 0
    for session in ("a", "b", "c"):
        begin(here, session)
    body = [{"event_type": "user_message", "content": str(number)} for number in range(5)]
    here.post("/memory/sessions/c/events", body, content_type=JSON)
    assert here.get("/memory/sessions").json()["sessions"] == ["b", "c"]
    assert [one["content"] for one in here.get("/memory/events").json()["events"]] == ["2", "3", "4"]
    assert here.get("/memory/sessions/c/context").json() == {"context": "User: 4"}
    declare(acme, "coder", maxSessions=4, maxSessionEvents=4, contextLimit=2)
    assert len(here.get("/memory/events").json()["events"]) == 4
    assert here.get("/memory/sessions/c/context").json() == {"context": "User: 3\nUser: 4"}


def test_a_memory_that_is_switched_off_is_on_for_an_agent_that_says_so(acme, here, settings):
    settings.MEMORY_ENABLED, settings.API_KEY_CACHE_SECONDS = False, 0
    begin(here, "s")
    assert here.get("/memory/sessions").json()["sessions"] == []
    event = {"event_type": "user_message", "content": "x"}
    assert here.post("/memory/sessions/s/events", event, content_type=JSON).json() == {"added": True}
    assert here.delete("/memory/sessions/s").json() == {"deleted": True}
    declare(acme, "coder", enabled=True)
    begin(here, "s")
    assert here.get("/memory/sessions").json()["sessions"] == ["s"]
    assert here.get("/memory/sessions", headers={"X-Agent": "other"}).json()["sessions"] == []


@pytest.mark.parametrize(("kind", "warns"), [("local", False), ("strata", False), ("mem0", True)])
def test_any_type_is_this_memory_and_an_unknown_one_is_warned_of(settings, kind, warns):
    settings.MEMORY_TYPE = kind
    told = check_memory_type(None)
    assert [one.id for one in told] == (["memoryproject.W001"] if warns else [])
