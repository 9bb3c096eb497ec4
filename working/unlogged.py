"""Turns of a session whose policy keeps no log: they live in the Redis list alone."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings

from tenants.caller import Caller
from tenants.policy.reading import read_policy
from working import querysets, store
from working.entries import parse_entry
from working.models import Event, Session
from working.types import NewEvent, SessionRef, StoredEvent, Turn


def keeps_log(*, tenant_id: UUID, agent_id: str) -> bool:
    """Whether the turns and events of the agent's sessions are kept in the log."""
    return read_policy(tenant_id=tenant_id, agent_id=agent_id).write.events != "off"


def held_turns(*, caller: Caller, ref: SessionRef, now: datetime) -> list[Turn]:
    """What the Redis list holds, oldest first. Raises RedisAway."""
    held = store.read_turns(caller=caller, ref=ref, now=now.timestamp(), count=settings.WORKING_LIST_LENGTH)
    return sorted(map(parse_entry, held.entries), key=lambda turn: turn.seq) if held else []


def number_events(
    *, session: Session, events: Sequence[NewEvent], held: Sequence[Turn], now: datetime
) -> tuple[list[StoredEvent], int]:
    """Gives numbers to the events that are new, and counts them, as the log does when it takes events in:
    those, and the turn count. An id is known as long as the list or the log holds its event.

    The caller holds the lock of the session's row.
    """
    ids = {event.external_id for event in events} - {None}
    known = ids & {turn.external_id for turn in held}
    if left := ids - known:
        logged = session.logged_turns()
        known |= set(logged.filter(external_id__in=left).values_list("external_id", flat=True))
    fresh = [event for event in events if event.external_id is None or event.external_id not in known]
    stored = [StoredEvent(seq, event) for seq, event in enumerate(fresh, session.last_seq + 1)]
    turns = sum(bool(event.role) for event in fresh)
    return stored, querysets.count_events(session=session, events=len(fresh), turns=turns, now=now)


def without_logged(*, session: Session, turns: Sequence[Turn]) -> list[Turn]:
    """The turns that are not in the log. In the open scope."""
    numbers = [turn.seq for turn in turns]
    logged = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id, seq__in=numbers)
    known = set(logged.values_list("seq", flat=True))
    return [turn for turn in turns if turn.seq not in known]
