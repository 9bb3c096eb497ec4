"""Letting go of the event log: what a summary tells of, or what is older than any summary."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

# In the order in which they were recorded, so that what is left of a session has no gap.
OLD = """
SELECT e.id, e.recorded_at FROM chat_events e
JOIN working_session s ON s.tenant_id = e.tenant_id AND s.id = e.session_id
WHERE e.tenant_id = %(tenant)s AND e.recorded_at < %(before)s AND e.recorded_at >= %(after)s
      AND (e.seq <= s.summarised_seq OR e.recorded_at < %(anyway)s)
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
OLDEST = "SELECT min(recorded_at) FROM chat_events WHERE tenant_id = %(tenant)s"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OldEvents:
    """Events of one tenant that were recorded before `before` and that a summary covers, and any before
    `anyway`. Of these agents' sessions, or with `listed` false of all but theirs."""

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


def oldest_event(tenant_id: UUID) -> datetime | None:
    """When the tenant's oldest event was recorded, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, {"tenant": tenant_id})
        (moment,) = cursor.fetchone()
    return moment if isinstance(moment, datetime) else None


def _params(old: OldEvents, after: datetime | None = None) -> dict[str, Any]:
    return {
        "tenant": old.tenant_id,
        "before": old.before,
        "after": after or BEGINNING,
        "anyway": min(old.anyway, old.before),
        "agents": list(old.agents),
        "listed": old.listed,
    }
