"""The SQL of sessions and events that the ORM does not say well, and its composed queries."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast
from uuid_utils.compat import uuid7

from tenants.json_columns import json_text
from tenants.models import Job, JobState, PolicyVersion, Tenant
from working.models import Session
from working.types import NewEvent, SessionRef, StoredEvent

Moment = Literal["last_activity_at", "opened_at"]
SessionColumns = Mapping[str, str | int | None]  # all that `INSERT_SESSIONS` names

# Locks the row either way, so that event numbers are given out one writer at a time.
OPEN_SESSION = """
INSERT INTO working_session AS s (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                                  started_at, opened_at, last_activity_at, last_seq, turn_count,
                                  summarised_seq, summary, began_whole)
VALUES (%(id)s, %(tenant)s, %(namespace)s, %(user)s, %(session)s, %(agent)s, %(project)s, %(metadata)s::jsonb,
        %(now)s, %(now)s, %(now)s, 0, 0, 0, '', %(whole)s)
ON CONFLICT (tenant_id, external_id, namespace, user_id) DO UPDATE SET
    last_activity_at = GREATEST(s.last_activity_at, EXCLUDED.last_activity_at),
    agent_id = CASE WHEN s.agent_id = '' AND NOT %(whole)s THEN EXCLUDED.agent_id ELSE s.agent_id END,
    project = CASE WHEN s.project = '' AND NOT %(whole)s THEN EXCLUDED.project ELSE s.project END
RETURNING *, s.xmax = 0 AS created
"""

# Numbers the events that are not there yet, after the newest, in the order given. Answers what jsonb makes of
# objects and numbers: the copy in Redis must read the same as a list that is rebuilt from here.
# A transaction may have got its id before one that held the lock before it. Those who are told of events in
# the order of these ids must not meet a session's events in another order than that of their numbers.
APPEND_EVENTS = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%(events)s::jsonb) AS g (
        ord int, id uuid, external_id text, event_type text, role text, content jsonb, tool jsonb,
        metadata jsonb, created_at timestamptz)
), fresh AS (
    SELECT g.*, row_number() OVER (ORDER BY g.ord) AS nth FROM given g
    WHERE g.external_id IS NULL OR NOT EXISTS (
        SELECT 1 FROM chat_events e
        WHERE e.tenant_id = %(tenant)s AND e.session_id = %(session)s AND e.external_id = g.external_id
              AND e.withdrawn_at IS NULL)
), added AS (
    INSERT INTO chat_events (id, tenant_id, session_id, seq, external_id, event_type, role, content, tool,
                             metadata, created_at, recorded_at, recorded_in)
    SELECT id, %(tenant)s, %(session)s, %(last_seq)s + nth, external_id, event_type, role,
           NULLIF(content, 'null'::jsonb), NULLIF(tool, 'null'::jsonb), metadata, created_at, %(now)s,
           GREATEST(pg_current_xact_id(), (
               SELECT e.recorded_in FROM chat_events e
               WHERE e.tenant_id = %(tenant)s AND e.session_id = %(session)s ORDER BY e.seq DESC LIMIT 1))
    FROM fresh
    RETURNING seq, role
), counted AS (
    UPDATE working_session SET
        last_seq = last_seq + (SELECT count(*) FROM added),
        turn_count = turn_count + (SELECT count(*) FROM added WHERE role <> ''),
        opened_at = CASE WHEN ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM added) THEN %(now)s
                         ELSE opened_at END,
        ended_at = CASE WHEN EXISTS (SELECT 1 FROM added) THEN NULL ELSE ended_at END,
        changed_at = CASE WHEN EXISTS (SELECT 1 FROM added WHERE role <> '') THEN %(now)s ELSE changed_at END
    WHERE tenant_id = %(tenant)s AND id = %(session)s
    RETURNING turn_count
)
SELECT f.ord, %(last_seq)s + f.nth, c.turn_count, f.tool,
       CASE WHEN jsonb_typeof(f.content) <> 'string' THEN f.content END
FROM counted c LEFT JOIN fresh f ON true ORDER BY f.nth
"""

# The same of events that are kept in no log.
COUNT_EVENTS = """
UPDATE working_session SET
    last_seq = last_seq + %(events)s,
    turn_count = turn_count + %(turns)s,
    opened_at = CASE WHEN ended_at IS NOT NULL AND %(events)s > 0 THEN %(now)s ELSE opened_at END,
    ended_at = CASE WHEN %(events)s > 0 THEN NULL ELSE ended_at END,
    changed_at = CASE WHEN %(turns)s > 0 THEN %(now)s ELSE changed_at END
WHERE tenant_id = %(tenant)s AND id = %(session)s
RETURNING turn_count
"""

# How long turns are, without reading them out.
TURN_SIZES = """
SELECT seq, role, coalesce(char_length(content #>> '{}'), 0) + coalesce(char_length(tool ->> 'tool_calls'), 0)
FROM chat_events
WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND seq > %(after)s AND role <> ''
      AND withdrawn_at IS NULL
ORDER BY seq DESC LIMIT %(limit)s
"""

# Of sessions that were elsewhere, those that are not here yet. In one order for all, so that two imports
# never wait for each other.
INSERT_SESSIONS = """
INSERT INTO working_session (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                             started_at, opened_at, last_activity_at, ended_at, last_seq, turn_count,
                             summarised_seq, summary)
SELECT id, %(tenant)s, namespace, user_id, external_id, agent_id, project, '{}', started_at, opened_at,
       last_activity_at, ended_at, 0, turn_count, 0, summary
FROM jsonb_to_recordset(%(rows)s::jsonb) AS g (
    id uuid, namespace text, user_id text, external_id text, agent_id text, project text,
    started_at timestamptz, opened_at timestamptz, last_activity_at timestamptz, ended_at timestamptz,
    turn_count bigint, summary text)
ORDER BY external_id, namespace, user_id
ON CONFLICT (tenant_id, external_id, namespace, user_id) DO NOTHING
"""

# One step of the index for each project, from the first on: DISTINCT would read every session.
PROJECTS = """
WITH RECURSIVE found AS (
    (SELECT project_key FROM working_session WHERE tenant_id = %(tenant)s AND project_key > ''
     ORDER BY project_key LIMIT 1)
    UNION ALL
    SELECT later.project_key FROM found CROSS JOIN LATERAL (
        SELECT project_key FROM working_session WHERE tenant_id = %(tenant)s
        AND project_key > found.project_key ORDER BY project_key LIMIT 1) AS later
)
SELECT project_key FROM found
"""

# Those of the named sessions that exist.
SESSIONS_AT = """
SELECT s.* FROM unnest(%(sessions)s::text[], %(namespaces)s::text[], %(users)s::text[])
                AS g (external_id, namespace, user_id)
JOIN working_session s ON s.tenant_id = %(tenant)s AND s.external_id = g.external_id
                      AND s.namespace = g.namespace AND s.user_id = g.user_id
"""
# One look into the index for each tenant, however many sessions others have. No session is used before it is
# opened, so the one that was opened first tells of both.
TENANTS_WITH_OPEN_SESSION = """
SELECT t.id FROM tenants_tenant t
CROSS JOIN LATERAL (
    SELECT s.opened_at FROM working_session s
    WHERE s.tenant_id = t.id AND s.ended_at IS NULL
    ORDER BY s.opened_at LIMIT 1) oldest
WHERE oldest.opened_at < %(before)s ORDER BY t.id
"""
NOTE_ACTIVITY = """
UPDATE working_session s SET last_activity_at = greatest(s.last_activity_at, g.used_at)
FROM unnest(%(ids)s::uuid[], %(moments)s::timestamptz[]) AS g (id, used_at)
WHERE s.tenant_id = %(tenant)s AND s.id = g.id
"""

# Each decides in one statement: what the row says is read and written under its lock.
INSERT_CHECKPOINT = """
INSERT INTO working_checkpoint AS c (id, tenant_id, session_id, version, value, updated_at)
VALUES (%(id)s, %(tenant)s, %(session)s, 1, %(value)s, %(now)s)
ON CONFLICT (tenant_id, session_id)
"""
FIRST_CHECKPOINT = INSERT_CHECKPOINT + "DO NOTHING RETURNING version"
ANY_CHECKPOINT = (
    INSERT_CHECKPOINT
    + """
DO UPDATE SET version = c.version + 1, value = EXCLUDED.value, updated_at = EXCLUDED.updated_at
RETURNING version
"""
)
NEXT_CHECKPOINT = """
UPDATE working_checkpoint SET version = version + 1, value = %(value)s, updated_at = %(now)s
WHERE tenant_id = %(tenant)s AND session_id = %(session)s
      AND (version = ANY(%(match)s::bigint[]) OR %(match)s::bigint[] = '{}')
RETURNING version
"""


def open_session(
    *,
    ref: SessionRef,
    agent_id: str,
    project: str,
    metadata: dict[str, Any],
    now: datetime,
    is_whole: bool = False,
) -> tuple[Session, bool]:
    """Creates or finds the session and locks its row until the scope ends; whether it was created. An empty
    agent or project is filled in; one that is set stays. `is_whole`: its client sends all of it, and names
    neither: they are those of its key, which does not reach what another began."""
    params = {
        "id": uuid7(),
        "tenant": ref.tenant_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
        "session": ref.session_id,
        "agent": agent_id,
        "project": project,
        "metadata": json_text(metadata),
        "now": now,
        "whole": is_whole,
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
        "events": json_text(rows),
        "tenant": session.tenant_id,
        "session": session.id,
        "last_seq": session.last_seq,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(APPEND_EVENTS, params)
        found = cursor.fetchall()
    stored = [
        StoredEvent(seq, _as_stored(events[position], tool=tool, content=content))
        for position, seq, _count, tool, content in found
        if position is not None
    ]
    return stored, found[0][2]


def count_events(*, session: Session, events: int, turns: int, now: datetime) -> int:
    """Counts events that are kept in no log; the turn count. The caller holds the lock of the row."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "events": events,
        "turns": turns,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT_EVENTS, params)
        count: int = cursor.fetchone()[0]
    return count


def turn_sizes(*, session: Session, after: int, limit: int) -> list[tuple[int, str, int]]:
    """Number, role and characters of the newest logged turns behind that number, newest first."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "after": after,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(TURN_SIZES, params)
        return [(seq, role, characters) for seq, role, characters in cursor.fetchall()]


def _as_stored(event: NewEvent, **columns: str | None) -> NewEvent:
    """The event with the columns that PostgreSQL may have written in another way than the client."""
    written = {name: json.loads(text) for name, text in columns.items() if text not in (None, "null")}
    return replace(event, **written) if written else event


def insert_sessions(*, tenant_id: UUID, rows: Sequence[SessionColumns]) -> int:
    """Inserts sessions without a log; how many were not there yet."""
    given = [{"id": str(uuid7()), **row} for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(INSERT_SESSIONS, {"tenant": tenant_id, "rows": json_text(given)})
        added: int = cursor.rowcount
    return added


def projects_in(tenant_id: UUID) -> list[str]:
    """Every project of the tenant that has a session, in lower case."""
    with connection.cursor() as cursor:
        cursor.execute(PROJECTS, {"tenant": tenant_id})
        return [project for (project,) in cursor.fetchall()]


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


def sessions_at(*, tenant_id: UUID, refs: Sequence[SessionRef]) -> list[Session]:
    """Those of the sessions that exist, all of the one tenant."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "sessions": [ref.session_id for ref in refs],
        "namespaces": [ref.namespace for ref in refs],
        "users": [ref.user_id for ref in refs],
    }
    return list(Session.objects.raw(SESSIONS_AT, params))


def tenants_with_open_session(*, before: datetime) -> list[UUID]:
    """Tenants with a session that was opened before then and is open. Asks as the role of the block."""
    return [tenant.id for tenant in Tenant.objects.raw(TENANTS_WITH_OPEN_SESSION, {"before": before})]


def agents_with_policies(tenant_id: UUID) -> list[str]:
    """The tenant's agents that ever had a policy of their own."""
    versions = PolicyVersion.objects.filter(tenant_id=tenant_id).exclude(agent_id="")
    return list(versions.values_list("agent_id", flat=True).distinct())


def open_sessions_without_job(
    *, tenant_id: UUID, kind: str, column: Moment, before: datetime, after: Session | None, limit: int
) -> list[Session]:
    """Open sessions with `column` before that moment, oldest first, beginning after that one; without those
    for which a job of that kind is queued, or has failed since they were last used."""
    theirs = Job.objects.filter(tenant_id=tenant_id, kind=kind, dedup_key=Cast(OuterRef("id"), TextField()))
    failed = theirs.filter(state=JobState.FAILED, created_at__gte=OuterRef("last_activity_at"))
    found = Session.objects.filter(
        ~Exists(theirs.filter(state=JobState.QUEUED)),
        ~Exists(failed),
        tenant_id=tenant_id,
        ended_at=None,
        **{f"{column}__lt": before},
    )
    if after is not None:
        moment = getattr(after, column)
        found = found.filter(Q(**{f"{column}__gt": moment}) | Q(**{column: moment, "id__gt": after.id}))
    return list(found.order_by(column, "id")[:limit])


def note_activity(*, tenant_id: UUID, used: Mapping[UUID, datetime]) -> None:
    """Sets when sessions were last used; a later use stays."""
    params: dict[str, Any] = {"tenant": tenant_id, "ids": list(used), "moments": list(used.values())}
    with connection.cursor() as cursor:
        cursor.execute(NOTE_ACTIVITY, params)


def put_checkpoint(
    *, session: Session, value: str, match: Collection[int] | None, absent: bool, now: datetime
) -> int | None:
    """Writes the session's checkpoint if there is none (`absent`), or only one of the versions in `match`
    (empty: of any), or whatever there is; its version, None when there was not what was expected."""
    if absent and match is not None:
        return None  # both cannot be
    statement = NEXT_CHECKPOINT if match is not None else FIRST_CHECKPOINT if absent else ANY_CHECKPOINT
    params: dict[str, Any] = {
        "id": uuid7(),
        "tenant": session.tenant_id,
        "session": session.id,
        "value": value,
        "match": list(match or ()),
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        row = cursor.fetchone()
    return row[0] if row else None
