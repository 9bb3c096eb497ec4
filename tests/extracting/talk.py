"""Sessions that are sent as a whole, their extraction at once, and what it leaves."""

import json
from typing import Any

from django.utils import timezone

from episodic.models import Episode
from recall.extracting.jobs import EXTRACT
from recall.working_memory import WindowSize
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope
from tests.recall.faults import run_due
from tests.recall.whole_sessions import put
from tests.working.conversation import EARLY, S
from tests.working.workspaces import seen
from working.types import NewMessage, SessionAddress

__all__ = ["extract", "put", "seen"]
CHAT = "/v1/chat/completions"
ANN = SessionAddress("s", "ann")
WIDE = WindowSize(context_window_max=1_000_000)
OSLO, VIM = "I live in Oslo.", "I prefer vim as my editor."


def talk(*contents: str, role: str = "user", first: int = 1) -> tuple[NewMessage, ...]:
    """Messages with the ids m1, m2, …"""
    return tuple(NewMessage(role, one, EARLY, f"m{n}") for n, one in enumerate(contents, first))


def notes(count: int) -> list[str]:
    """Of a length that a run looks at two of."""
    return [f"Note {n}: {'long ' * 1_600}" for n in range(count)]


def extract(caller: Caller) -> None:
    """As if the quiet, or whatever else is waited for, were over."""
    make_due(caller)
    run_due(caller, EXTRACT)


def run_jobs() -> None:
    while runner.run_jobs(slow=True):
        pass


def make_due(caller: Caller) -> None:
    with scope(caller.tenant_id):
        mine = Job.objects.filter(tenant_id=caller.tenant_id, kind=EXTRACT, state="queued")
        mine.update(run_at=timezone.now())


def jobs(caller: Caller) -> list[Job]:
    with scope(caller.tenant_id):
        return list(Job.objects.filter(tenant_id=caller.tenant_id, kind=EXTRACT).order_by("id"))


def records(caller: Caller) -> list[Episode]:
    """Those that hold, the oldest first."""
    with scope(caller.tenant_id):
        mine = Episode.objects.filter(tenant_id=caller.tenant_id, valid_to=None).exclude(external_id="")
        return list(mine.order_by("created_at", "id"))


def texts(caller: Caller) -> set[str]:
    return {one.text for one in records(caller)}


def marks(caller: Caller, address: SessionAddress = S) -> list[bool]:
    """Which messages were looked at."""
    return [one.is_extracted for one in seen(caller, address).messages]


def memory(text: str, **named: Any) -> dict[str, Any]:
    """As the model answers it."""
    usual = {"topics": [], "entities": [], "messages": [1], "memory_type": "semantic", "event_date": None}
    return {"text": text, **usual, **named}


def says(*memories: dict[str, Any]) -> str:
    return json.dumps({"memories": memories})


def shown(llm: Any) -> str:
    """All that the model was shown at last."""
    request = [one for one in llm.requests if one["path"] == CHAT][-1]
    return "\n".join(str(one["content"]) for one in request["body"]["messages"])
