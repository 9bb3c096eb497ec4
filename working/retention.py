"""Letting go of the event log: what a summary tells of, what clients have left out, or what is older than any
summary; and of what was kept with sessions whose hold is over."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

# In the order in which they were recorded, so that what is left of a session has no gap.
OLD = """
SELECT e.id, e.recorded_at FROM chat_events e
JOIN working_session s ON s.tenant_id = e.tenant_id AND s.id = e.session_id
WHERE e.tenant_id = %(tenant)s AND e.recorded_at < %(before)s AND e.recorded_at >= %(after)s
      AND (e.seq <= s.summarised_seq OR e.recorded_at < %(anyway)s OR e.withdrawn_at IS NOT NULL)
      AND (s.agent_id = ANY(%(agents)s)) = %(listed)s
"""
DELETE = f"""
WITH old AS MATERIALIZED ({OLD} ORDER BY e.recorded_at, e.seq LIMIT %(limit)s),
     gone AS (DELETE FROM chat_events WHERE tenant_id = %(tenant)s AND id = ANY(ARRAY(SELECT id FROM old))
              RETURNING 1)
SELECT (SELECT count(*) FROM gone), count(*), max(recorded_at) FROM old
"""  # noqa: S608
COUNT = f"SELECT count(*), min(recorded_at) FROM ({OLD}) AS old"  # noqa: S608
ANY_OLD = f"SELECT EXISTS ({OLD})"
# The row stays as long as its session: it says that the hold is over.
FORGET = """
UPDATE working_state SET data = NULL, memories = '[]', strategy = '{}', tokens = 0, stamps = '{}'
WHERE tenant_id = %(tenant)s AND id IN (SELECT id FROM over)
"""
OVER = """
SELECT id FROM working_state
WHERE tenant_id = %(tenant)s AND expires_at <= %(now)s
      AND (data IS NOT NULL OR memories <> '[]' OR strategy <> '{}')
      AND NOT (%(remembers)s AND EXISTS (
          SELECT FROM jsonb_array_elements(memories) AS record
          WHERE coalesce(record ->> 'persisted_at', record ->> 'refused_at', '') = ''))
LIMIT %(limit)s
"""
OLDEST = "SELECT min(recorded_at) FROM chat_events WHERE tenant_id = %(tenant)s"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OldEvents:
    """Events of one tenant that were recorded before `before` and that a summary covers or no window has any
    more, and any before `anyway`. Of these agents' sessions, or with `listed` false of all but theirs."""

    tenant_id: UUID
    before: datetime
    anyway: datetime
    agents: Collection[str] = ()
    listed: bool = False


def delete_events(old: OldEvents, *, after: datetime, limit: int) -> tuple[int, int, datetime | None]:
    """Deletes up to `limit` of them that were recorded at `after` or later, in the open scope: how many, how
    many were found, and where to go on."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE, _params(old, after) | {"limit": limit})
        deleted, found, last = cursor.fetchone()
    return deleted, found, last


def count_events(old: OldEvents) -> int:
    """How many there are, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, _params(old))
        return int(cursor.fetchone()[0])


def has_events(old: OldEvents) -> bool:
    """Whether there are any, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(ANY_OLD, _params(old))
        return bool(cursor.fetchone()[0])


def forget_states(*, tenant_id: UUID, now: datetime, limit: int) -> int:
    """Empties what clients have kept with up to `limit` sessions whose hold is over, in the open scope; of
    how many. Those with records that are yet to be remembered come later."""
    params = _params_over(tenant_id, now, limit)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH over AS ({OVER} FOR UPDATE) {FORGET}", params)
        return int(cursor.rowcount)


def has_states_over(*, tenant_id: UUID, now: datetime) -> bool:
    """Whether there are any, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(OVER, _params_over(tenant_id, now, 1))
        return cursor.fetchone() is not None


def oldest_event(tenant_id: UUID) -> datetime | None:
    """When the tenant's oldest event was recorded, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, {"tenant": tenant_id})
        (moment,) = cursor.fetchone()
    return moment if isinstance(moment, datetime) else None


def _params_over(tenant_id: UUID, now: datetime, limit: int) -> dict[str, Any]:
    return {"tenant": tenant_id, "now": now, "limit": limit, "remembers": settings.LONG_TERM_MEMORY}


def _params(old: OldEvents, after: datetime | None = None) -> dict[str, Any]:
    return {
        "tenant": old.tenant_id,
        "before": old.before,
        "after": after or BEGINNING,
        "anyway": min(old.anyway, old.before),
        "agents": list(old.agents),
        "listed": old.listed,
    }
