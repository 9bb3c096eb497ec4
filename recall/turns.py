"""Turns come in: the log, then what the policy has them cause, in one commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recall.compaction import compact_if_due
from recall.indexing_turns import enqueue_index
from recall.remember.queue import enqueue_remember
from tenants import idempotency
from tenants.caller import Caller
from working.events import Appended, Written, append_events
from working.models import Session
from working.types import Compacted, NewEvent, SessionAddress


@dataclass(frozen=True, slots=True)
class Told:
    """What an append did, and whether it left older turns to a new summary."""

    appended: Appended
    summarised: bool


def append_turns(
    *,
    caller: Caller,
    address: SessionAddress,
    events: Sequence[NewEvent],
    now: datetime,
    agent_id: str | None = None,
    project: str | None = None,
    only_if: Callable[[Session], bool] | None = None,
) -> Told:
    """Adds events to the session's log, as `working.events.append_events` does.

    In the same commit older turns become a summary if there are too many, and jobs are recorded that index
    the new ones or look in them for what is worth remembering, as the policy says.
    """
    left: list[Told] = []

    def also(written: Written) -> Compacted | None:
        compacted = compact_if_due(caller=caller, written=written, now=now)
        follow_up(written=written, now=now)
        left.append(Told(written.appended, compacted is not None))
        idempotency.keep(left[-1], user_id=written.session.user_id)
        return compacted

    append_events(
        caller=caller,
        address=address,
        events=events,
        now=now,
        agent_id=agent_id,
        project=project,
        also=also,
        only_if=only_if,
    )
    return left[-1]


def follow_up(*, written: Written, now: datetime) -> None:
    """Records the jobs that new turns cause, in the scope of the append. Without a log there are none: nobody
    could read the turns later."""
    if written.held is not None:
        return
    enqueue_index(written=written, now=now)
    if any(one.event.role == "user" for one in written.stored):
        first, last = written.appended.numbers[0], written.appended.numbers[-1]
        enqueue_remember(session=written.session, first_seq=first, last_seq=last, now=now)
