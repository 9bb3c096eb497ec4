"""Items that have expired are deleted for good, with the episodes that say them.

Reads leave them out from the moment on; a recall may find the episode until the sweep.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from episodic.announcements import tell_expired
from episodic.models import Item
from tenants.router import admin_role
from tenants.scope import scope
from webhooks.announcing import is_anyone_told

BATCH = 1_000  # rows of a commit
# The episode is locked first, as whoever puts an item does; who is busy with one is not waited for.
LOCK = """
SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = ANY (ARRAY(
    SELECT id FROM store_items WHERE tenant_id = %(tenant)s AND expires_at <= %(now)s
    ORDER BY expires_at LIMIT %(limit)s))
FOR UPDATE SKIP LOCKED
"""
# It may have been put again since it was found, so the question is asked once more of what is locked.
DELETE = """
WITH gone AS (
    DELETE FROM agent_episodes e WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s) AND EXISTS (
        SELECT FROM store_items i
        WHERE i.tenant_id = %(tenant)s AND i.id = e.id AND i.expires_at <= %(now)s)
    RETURNING id, user_id, agent_id, project, session
), told AS (SELECT user_id, agent_id, project, session, array_agg(id) AS ids FROM gone GROUP BY 1, 2, 3, 4)
SELECT (SELECT count(*) FROM gone), (SELECT json_agg(told) FROM told WHERE %(told)s)
"""


def sweep_items(*, now: datetime) -> int:
    """Deletes what has expired, of every tenant; how many. A named cross-tenant job: it learns from the admin
    role whose it is, and works as the app role. What is a restricted person's stays as long as that lasts."""
    with admin_role():
        expired = Item.objects.filter(expires_at__lte=now).order_by()
        tenants = list(expired.values_list("tenant_id", flat=True).distinct())
    return sum(_sweep(tenant_id, now) for tenant_id in tenants)


def _sweep(tenant_id: UUID, now: datetime) -> int:
    deleted = 0
    while found := _batch(tenant_id, now):
        deleted += found
    return deleted


def _batch(tenant_id: UUID, now: datetime) -> int:
    params: dict[str, Any] = {"tenant": tenant_id, "now": now, "limit": BATCH}
    with scope(tenant_id):
        with connection.cursor() as cursor:
            cursor.execute(LOCK, params)
            params["ids"] = [one for (one,) in cursor.fetchall()]
            params["told"] = is_anyone_told(tenant_id)
            cursor.execute(DELETE, params)
            deleted, groups = cursor.fetchone()
        tell_expired(tenant_id=tenant_id, groups=groups or [])
    return int(deleted)
