"""The SQL of live events: what was committed behind a position, in the order in which it is told.

That order is by the transaction that wrote an event, then by session, then by number. It loses nothing: a
transaction that may still commit has an id of at least the oldest running one's, and nothing of that id or a
later one is read. It reverses nothing: within a session `recorded_in` grows with the number, as
`APPEND_EVENTS` sees to.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connection

from working.live_types import LiveEvent, Position, Wanted
from working.models import Event

# Transactions below this one have ended, and each statement from now on sees what they committed.
SETTLED = "SELECT pg_snapshot_xmin(pg_current_snapshot())"
# Each condition on what is wanted is a comparison of constants where nothing is named. A cursor, since a page
# of events may have a hundred megabytes, and how many one has is known only when it has been read. Sizes are
# asked for outside, so that no event is measured that is not on the page.
COMMITTED = """
DECLARE live_events NO SCROLL CURSOR FOR
SELECT told.*, coalesce(octet_length(told.content::text), 0) + octet_length(told.metadata::text)
               + coalesce(octet_length(told.tool::text), 0) AS size
FROM (
SELECT e.*, s.external_id AS of_session, s.namespace, s.user_id, s.agent_id, s.project
FROM chat_events e JOIN working_session s ON s.tenant_id = %(tenant)s AND s.id = e.session_id
WHERE e.tenant_id = %(tenant)s
      AND (e.recorded_in, e.session_id, e.seq) > (%(recorded_in)s::xid8, %(session)s::uuid, %(seq)s)
      AND e.recorded_in < %(settled)s::xid8 AND e.withdrawn_at IS NULL
      AND (%(of_session)s = '' OR s.external_id = %(of_session)s)
      AND (%(user)s = '' OR s.user_id = %(user)s)
      AND (%(agent)s = '' OR s.agent_id = %(agent)s)
      AND (%(project)s = '' OR s.project = %(project)s)
      AND (%(types)s::text[] = '{}' OR e.event_type = ANY(%(types)s::text[]))
ORDER BY e.recorded_in, e.session_id, e.seq LIMIT %(limit)s) told
ORDER BY told.recorded_in, told.session_id, told.seq
"""
STEP = 10  # most events read at once, each of at most `MAX_BODY_BYTES`
FETCH = "FETCH %s FROM live_events"
CLOSE = "CLOSE live_events"


def settled() -> int:
    """The oldest transaction that may still commit. In the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(SETTLED)
        return int(cursor.fetchone()[0])


def committed(
    *, tenant_id: UUID, wanted: Wanted, after: Position, before: int, limit: int, enough: int
) -> tuple[list[LiveEvent], bool]:
    """What is wanted of the events behind `after` that were written before the transaction `before`, which
    `settled` told: `limit` at most, and none after those that have `enough` bytes together; whether there may
    be more. In the open scope; what is hidden there, such as a restricted person's, is not read."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "recorded_in": str(after.recorded_in),
        "session": after.session,
        "seq": after.seq,
        "settled": str(before),
        "of_session": wanted.session_id,
        "user": wanted.user_id,
        "agent": wanted.agent_id,
        "project": wanted.project,
        "types": sorted(wanted.event_types),
        "limit": limit,
    }
    found, size = list[LiveEvent](), 0
    with connection.cursor() as cursor:
        cursor.execute(COMMITTED, params)
        for one in _fetched():
            owner = (one.of_session, one.namespace, one.user_id, one.agent_id, one.project)
            found.append(LiveEvent(one, *owner))
            size += one.size
            if size >= enough:
                break
        cursor.execute(CLOSE)
    return found, len(found) == limit or size >= enough


def _fetched() -> Iterator[Any]:
    """What the cursor has, with the statement's own columns: few events first, since they may be large."""
    step = 1
    while len(rows := list(Event.objects.raw(FETCH, [step]))) == step:
        yield from rows
        step = min(2 * step, STEP)
    yield from rows
