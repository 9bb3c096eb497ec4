"""The SQL of sessions and events that the ORM does not say well."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from working.models import Session
from working.types import NewEvent, SessionRef, StoredEvent

# Locks the row either way, so that event numbers are given out one writer at a time.
OPEN_SESSION = """
INSERT INTO working_session AS s (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                                  started_at, opened_at, last_activity_at, last_seq, turn_count,
                                  summarised_seq, summary)
VALUES (%(id)s, %(tenant)s, %(namespace)s, %(user)s, %(session)s, %(agent)s, %(project)s, %(metadata)s::jsonb,
        %(now)s, %(now)s, %(now)s, 0, 0, 0, '')
ON CONFLICT (tenant_id, external_id, namespace, user_id) DO UPDATE SET
    last_activity_at = GREATEST(s.last_activity_at, EXCLUDED.last_activity_at),
    agent_id = CASE WHEN s.agent_id = '' THEN EXCLUDED.agent_id ELSE s.agent_id END,
    project = CASE WHEN s.project = '' THEN EXCLUDED.project ELSE s.project END
RETURNING *, s.xmax = 0 AS created
"""

# Numbers the events that are not there yet, after the newest, in the order given. Answers what jsonb makes of
# objects and numbers: the copy in Redis must read the same as a list that is rebuilt from here.
APPEND_EVENTS = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%(events)s::jsonb) AS g (
        ord int, id uuid, external_id text, event_type text, role text, content jsonb, tool jsonb,
        metadata jsonb, created_at timestamptz)
), fresh AS (
    SELECT g.*, row_number() OVER (ORDER BY g.ord) AS nth FROM given g
    WHERE g.external_id IS NULL OR NOT EXISTS (
        SELECT 1 FROM chat_events e
        WHERE e.tenant_id = %(tenant)s AND e.session_id = %(session)s AND e.external_id = g.external_id)
), added AS (
    INSERT INTO chat_events (id, tenant_id, session_id, seq, external_id, event_type, role, content, tool,
                             metadata, created_at, recorded_at)
    SELECT id, %(tenant)s, %(session)s, %(last_seq)s + nth, external_id, event_type, role,
           NULLIF(content, 'null'::jsonb), NULLIF(tool, 'null'::jsonb), metadata, created_at, %(now)s
    FROM fresh
    RETURNING seq, role
), counted AS (
    UPDATE working_session SET
        last_seq = last_seq + (SELECT count(*) FROM added),
        turn_count = turn_count + (SELECT count(*) FROM added WHERE role <> ''),
        opened_at = CASE WHEN ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM added) THEN %(now)s
                         ELSE opened_at END,
        ended_at = CASE WHEN EXISTS (SELECT 1 FROM added) THEN NULL ELSE ended_at END
    WHERE tenant_id = %(tenant)s AND id = %(session)s
    RETURNING turn_count
)
SELECT f.ord, %(last_seq)s + f.nth, c.turn_count, f.tool,
       CASE WHEN jsonb_typeof(f.content) <> 'string' THEN f.content END
FROM counted c LEFT JOIN fresh f ON true ORDER BY f.nth
"""


def open_session(
    *, ref: SessionRef, agent_id: str, project: str, metadata: dict[str, Any], now: datetime
) -> tuple[Session, bool]:
    """Creates or finds the session and locks its row until the scope ends; whether it was created. An empty
    agent or project is filled in; one that is set stays."""
    params = {
        "id": uuid7(),
        "tenant": ref.tenant_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
        "session": ref.session_id,
        "agent": agent_id,
        "project": project,
        "metadata": json.dumps(metadata),
        "now": now,
    }
    session = Session.objects.raw(OPEN_SESSION, params)[0]
    return session, session.created  # type: ignore[attr-defined]  # the statement's own column


def append_events(
    *, session: Session, events: Sequence[NewEvent], now: datetime
) -> tuple[list[StoredEvent], int]:
    """Inserts the events whose external id is new: those, as they are stored, and the turn count.

    The caller holds the lock of the session's row. An external id stands at most once in `events`.
    """
    rows = [
        {
            "ord": position,
            "id": str(uuid7()),
            "external_id": event.external_id,
            "event_type": event.event_type,
            "role": event.role,
            "content": event.content,
            "tool": event.tool,
            "metadata": event.metadata,
            "created_at": event.created_at.isoformat(),
        }
        for position, event in enumerate(events)
    ]
    params: dict[str, Any] = {
        "events": json.dumps(rows),
        "tenant": session.tenant_id,
        "session": session.id,
        "last_seq": session.last_seq,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(APPEND_EVENTS, params)
        found = cursor.fetchall()
    stored = [
        StoredEvent(seq, replace(events[position], **_as_stored(tool=tool, content=content)))
        for position, seq, _count, tool, content in found
        if position is not None
    ]
    return stored, found[0][2]


def _as_stored(**columns: str | None) -> dict[str, Any]:
    """The columns that PostgreSQL may have written in another way than the client."""
    return {name: json.loads(text) for name, text in columns.items() if text not in (None, "null")}


def sessions_named(
    *, tenant_id: UUID, session_id: str, namespace: str | None, user_id: str | None
) -> list[Session]:
    """At most three sessions of that id: the one without user and namespace first, then by age."""
    found = Session.objects.filter(tenant_id=tenant_id, external_id=session_id)
    if namespace is not None:
        found = found.filter(namespace=namespace)
    if user_id is not None:
        found = found.filter(user_id=user_id)
    return list(found.order_by("user_id", "namespace", "started_at")[:3])
