"""What became of the records that clients keep with a session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from working import workspace_queries
from working.models import Session, SessionState
from working.pending import Record, marked, still_waiting, waiting


@dataclass(frozen=True, slots=True)
class Noted:
    """The ids of the records of which it was noted, and the records that wait then."""

    ids: frozenset[str]
    left: Sequence[Record]


def waiting_records(*, tenant_id: UUID, session_id: UUID) -> list[Record]:
    """Those that are to be remembered. In the open scope."""
    state = SessionState.objects.filter(tenant_id=tenant_id, session_id=session_id).first()
    return waiting(state.memories) if state is not None else []


def note_remembered(
    *,
    session: Session,
    handled: Sequence[Record],
    marks: Mapping[str, Record],
    now: datetime,
) -> Noted:
    """Sets the marks of the records by their ids, where they still wait and say what was handled, in the open
    scope. That is a change of the session."""
    mine = Session.objects.filter(tenant_id=session.tenant_id, id=session.id)
    locked = mine.select_for_update().first()
    states = SessionState.objects.filter(tenant_id=session.tenant_id, session_id=session.id)
    state = states.first()
    if locked is None or state is None:
        return Noted(frozenset(), ())
    ids = still_waiting(state.memories, handled) & marks.keys()
    records = marked(state.memories, {name: marks[name] for name in ids})
    if ids:
        moment = locked.moment_of_change(now)
        states.update(memories=records)
        mine.update(changed_at=moment)
        workspace_queries.stamp(session=locked, now=moment)
    return Noted(ids, waiting(records))
