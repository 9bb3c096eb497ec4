"""A conversation with a policy of its own, and what it leaves behind."""

from typing import Any

from django.utils import timezone

from episodic.models import Episode
from recall.turns import Told, append_turns
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.policy.versions import Level, write_policy
from tenants.scope import scope
from tests.working.conversation import S, turn
from working.sessions import access_session
from working.types import NewEvent, SessionAddress


def decide(caller: Caller, **changes: Any) -> None:
    """The tenant's policy, by section."""
    write_policy(level=Level(caller.tenant_id), actor="test", changes=changes)


def tell(caller: Caller, *events: NewEvent, address: SessionAddress = S, **named: Any) -> Told:
    return append_turns(caller=caller, address=address, events=events, now=timezone.now(), **named)


def exchanges(first: int, last: int) -> list[NewEvent]:
    return [turn(role, f"{role[0]}{n}") for n in range(first, last + 1) for role in ("user", "assistant")]


def words(first: int, last: int) -> list[str]:
    """What is said in `exchanges`."""
    return [f"{who}{n}" for n in range(first, last + 1) for who in "ua"]


def session_of(caller: Caller, address: SessionAddress = S) -> Any:
    return access_session(caller=caller, address=address)


def episodes(caller: Caller, memory_type: str = "episodic") -> list[Episode]:
    """By the turns that they cover."""
    with scope(caller.tenant_id):
        mine = Episode.objects.filter(tenant_id=caller.tenant_id, memory_type=memory_type)
        return list(mine.order_by("covers_turns"))


def spans(caller: Caller) -> list[list[int]]:
    return [one.covers_turns for one in episodes(caller)]


def run_jobs() -> None:
    while runner.run_jobs(slow=False) or runner.run_jobs(slow=True):
        pass
