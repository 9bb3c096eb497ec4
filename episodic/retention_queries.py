"""The SQL of retention: what sessions left behind and is old, in batches, the oldest first."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from episodic.announcements import tell_expired
from webhooks.announcing import is_anyone_told

MINE = "tenant_id = %(tenant)s AND origin = 'session' AND pinned_at IS NULL"
OLD = f"""
SELECT id, created_at FROM agent_episodes
WHERE {MINE} AND created_at < %(before)s AND created_at >= %(after)s
      AND (agent_id = ANY(%(agents)s)) = %(listed)s
"""  # noqa: S608
# One that is pinned in this moment stays: the condition is asked again of the locked row. Vectors and
# revisions go by their foreign keys.
DELETE = f"""
WITH old AS MATERIALIZED ({OLD} ORDER BY created_at LIMIT %(limit)s),
     gone AS (DELETE FROM agent_episodes WHERE {MINE} AND id = ANY(ARRAY(SELECT id FROM old))
             RETURNING id, user_id, agent_id, project, session, memory_type),
     told AS (SELECT user_id, agent_id, project, session, array_agg(id) AS ids FROM gone
              WHERE %(told)s AND memory_type <> 'message' GROUP BY 1, 2, 3, 4)
SELECT (SELECT count(*) FROM gone), count(*), max(created_at), (SELECT json_agg(told) FROM told) FROM old
"""  # noqa: S608
COUNT = f"SELECT count(*) FROM ({OLD}) AS old"  # noqa: S608
ANY_OLD = f"SELECT EXISTS ({OLD})"
OLDEST = f"SELECT min(created_at) FROM agent_episodes WHERE {MINE}"  # noqa: S608
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OldEpisodes:
    """Episodes that sessions of one tenant left behind before `before` and that nobody has pinned. These
    agents', or with `listed` false all but theirs."""

    tenant_id: UUID
    before: datetime
    agents: Collection[str] = ()
    listed: bool = False


def delete_episodes(old: OldEpisodes, *, after: datetime, limit: int) -> tuple[int, int, datetime | None]:
    """Deletes up to `limit` of them from `after` on, with their vectors and revisions, in the open scope: how
    many, how many were found, and where to go on."""
    with connection.cursor() as cursor:
        told = is_anyone_told(old.tenant_id)
        cursor.execute(DELETE, _params(old, after) | {"limit": limit, "told": told})
        deleted, found, last, groups = cursor.fetchone()
    tell_expired(tenant_id=old.tenant_id, groups=groups or [])
    return deleted, found, last


def count_episodes(old: OldEpisodes) -> int:
    """How many there are, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, _params(old))
        return int(cursor.fetchone()[0])


def has_episodes(old: OldEpisodes) -> bool:
    """Whether there are any, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(ANY_OLD, _params(old))
        return bool(cursor.fetchone()[0])


def oldest_episode(tenant_id: UUID) -> datetime | None:
    """When the oldest one of the tenant was written that retention will come to, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, {"tenant": tenant_id})
        (moment,) = cursor.fetchone()
    return moment if isinstance(moment, datetime) else None


def _params(old: OldEpisodes, after: datetime | None = None) -> dict[str, Any]:
    return {
        "tenant": old.tenant_id,
        "before": old.before,
        "after": after or BEGINNING,
        "agents": list(old.agents),
        "listed": old.listed,
    }
