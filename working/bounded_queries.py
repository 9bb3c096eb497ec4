"""The SQL of KAOS's bounded memory: a view of sessions and their logs that lets go of what is too much."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from string import Template
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, Q, QuerySet

from tenants.caller import Caller
from working.models import Event, Session

# Sessions beyond the bound that one creation lets go of besides. Other doors know no bound, but what is
# beyond it is not shown anyway: it need not all go at once, while others wait.
OTHERS_LET_GO = 100
CLEANED = 100_000  # sessions that one clean-up lets go of
KNOWN = Q(let_go_at__isnull=True) | Q(last_seq__gt=F("let_go_seq"))
LOCK = "SELECT pg_advisory_xact_lock(%s)"
# What the statements below name with a dollar. Here and there `s` is a session: one that the memory knows,
# within what the key is bound to.
REACHED = """
s.tenant_id = %(tenant)s AND (s.let_go_at IS NULL OR s.last_seq > s.let_go_seq)
AND (%(user)s = '' OR s.user_id = %(user)s) AND (%(project)s = '' OR s.project = %(project)s)
"""
PLACE = "coalesce(s.let_go_at, s.placed_at, s.started_at)"

# One step of the index for each agent, from the first on: DISTINCT would read every session.
AGENTS = """
WITH RECURSIVE found AS (
    (SELECT s.agent_id FROM working_session s WHERE $reached ORDER BY s.agent_id LIMIT 1)
    UNION ALL
    SELECT later.agent_id FROM found CROSS JOIN LATERAL (
        SELECT s.agent_id FROM working_session s WHERE $reached AND s.agent_id > found.agent_id
        ORDER BY s.agent_id LIMIT 1) AS later
)
SELECT agent_id FROM found
"""

# The newest sessions of each agent, as many as its bound allows, however many there are.
VIEW = """
SELECT k.*, g.most_events FROM unnest(%(agents)s::text[], %(most_sessions)s::int[], %(most_events)s::int[])
    AS g (agent_id, most_sessions, most_events)
CROSS JOIN LATERAL (
    SELECT s.id, s.external_id, s.let_go_seq, s.user_id, s.namespace, $place AS place
    FROM working_session s WHERE $reached AND s.agent_id = g.agent_id
    ORDER BY s.last_activity_at DESC, s.id DESC LIMIT g.most_sessions) k
WHERE (%(named_user)s = '' OR k.user_id = %(named_user)s)
      AND (%(namespace)s::text IS NULL OR k.namespace = %(namespace)s)
"""
SEEN = """
SELECT e.* FROM chat_events e
WHERE e.tenant_id = %(tenant)s AND e.session_id = k.id AND e.seq > k.let_go_seq AND e.withdrawn_at IS NULL
ORDER BY e.seq DESC LIMIT k.most_events
"""
# Where several are of one id, that stands in the place of the first.
LISTED = """
SELECT external_id FROM (
    SELECT DISTINCT ON (k.external_id) k.external_id, k.place, k.id FROM ($view) k
    ORDER BY k.external_id, k.place, k.id) once
ORDER BY place, id
"""
# From the end of the last session back: the limit is reached before the first ones are looked at.
NEWEST = """
SELECT e.*, k.external_id AS session FROM ($view ORDER BY k.place DESC, k.id DESC) k
CROSS JOIN LATERAL ($seen) e
ORDER BY k.place DESC, k.id DESC, e.seq DESC LIMIT %(limit)s
"""
FIGURES = """
SELECT count(*), coalesce(sum(counted.events), 0) FROM ($view) k
CROSS JOIN LATERAL (SELECT count(*) AS events FROM ($seen) e) counted
"""

COUNT = """
SELECT count(*) FROM (
    SELECT 1 FROM working_session s WHERE $reached AND s.agent_id = %(agent)s LIMIT %(limit)s) counted
"""
# One that is locked is in use: it is not among the oldest, and waiting for it could go round in a circle.
# They are chosen once: joined as they stand, they would be chosen anew for every row they are compared with.
LET_OLDEST_GO = """
WITH old AS MATERIALIZED (
    SELECT s.id FROM working_session s
    WHERE $reached AND s.agent_id = ANY(%(agents)s::text[]) AND s.last_activity_at < %(before)s
    ORDER BY s.last_activity_at, $place, s.id LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED)
UPDATE working_session AS gone SET let_go_seq = gone.last_seq, let_go_at = %(now)s
FROM old WHERE gone.tenant_id = %(tenant)s AND gone.id = old.id
"""
# An id means one session: those of other users or namespaces give their place to the new one. All are locked
# before anything else is: whoever waits for one of them holds no row that another creation may wait for.
NAMESAKES = """
SELECT s.id, $place AS place FROM working_session s
WHERE $reached AND (%(agent)s = '' OR s.agent_id = %(agent)s) AND s.external_id = %(session)s
ORDER BY s.id FOR NO KEY UPDATE
"""
LET_NAMESAKES_GO = """
UPDATE working_session AS gone SET let_go_seq = gone.last_seq, let_go_at = %(now)s
FROM ($namesakes) other
WHERE gone.tenant_id = %(tenant)s AND gone.id = other.id AND gone.id <> %(kept)s
RETURNING other.place
"""
EMPTY = """
UPDATE working_session SET
    let_go_seq = last_seq, let_go_at = NULL, emptied_at = %(now)s, placed_at = %(place)s,
    metadata = metadata || jsonb_build_object('app_name', %(app_name)s::text)
WHERE tenant_id = %(tenant)s AND id = %(session)s
"""


@dataclass(frozen=True, slots=True)
class Bound:
    """An agent, and how many sessions and events of each its memory has."""

    agent_id: str
    sessions: int
    events: int


@dataclass(frozen=True, slots=True)
class Narrow:
    """What a reader asks for within the key's reach: of one user or namespace; empty and None: of any."""

    user_id: str = ""
    namespace: str | None = None


def lock_id(*, tenant_id: UUID, session_id: str) -> None:
    """Waits, in the open scope, for whoever creates a session of that id, be it another agent's: a memory
    that is not one agent's lets go of the namesakes of all. Asked for after the lock of `refuse_erased`,
    which may be held for long."""
    _lock(b"kaos-id\x00" + tenant_id.bytes + session_id.encode())


def lock_memory(*, tenant_id: UUID, agent_id: str) -> None:
    """Waits, in the open scope, for whoever creates a session of the same agent: counting and letting go are
    then one step. Asked for after that of the id, and before any row's."""
    _lock(b"kaos\x00" + tenant_id.bytes + agent_id.encode())


def lock_namesakes(*, caller: Caller, agent_id: str, session_id: str) -> None:
    """Locks the known sessions of that id in the memory of the agent; '': of all agents."""
    with connection.cursor() as cursor:
        cursor.execute(_written(NAMESAKES), {**_reach(caller), "agent": agent_id, "session": session_id})


def agents_in(caller: Caller) -> list[str]:
    """The agents of sessions that the memory knows within the key's reach, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_written(AGENTS), _reach(caller))
        return [agent_id for (agent_id,) in cursor.fetchall()]


def sessions_named(*, caller: Caller, agent_id: str, session_id: str, narrow: Narrow) -> QuerySet[Session]:
    """The known sessions of that id: the one without user and namespace first."""
    bound = {"agent_id": agent_id, "user_id": caller.user_id, "project": caller.project}
    named = {"user_id": narrow.user_id or caller.user_id, "namespace": narrow.namespace}
    conditions = {name: value for name, value in (bound | named).items() if value}
    found = Session.objects.filter(KNOWN, tenant_id=caller.tenant_id, external_id=session_id, **conditions)
    return found.order_by("user_id", "namespace", "started_at")


def ids_in(*, caller: Caller, bounds: Sequence[Bound], narrow: Narrow) -> list[str]:
    """The ids of the sessions, each once, in the order of their places."""
    with connection.cursor() as cursor:
        cursor.execute(_written(LISTED), _view(caller, bounds, narrow))
        return [session_id for (session_id,) in cursor.fetchall()]


def newest_events(
    *, caller: Caller, bounds: Sequence[Bound], narrow: Narrow, limit: int
) -> list[tuple[str, Event]]:
    """The last `limit` events of all sessions one after another, last first; each with its session's id."""
    params = {**_view(caller, bounds, narrow), "limit": limit}
    found = Event.objects.raw(_written(NEWEST), params)
    return [(one.session, one) for one in found]  # type: ignore[attr-defined]  # the statement's own column


def figures_of(*, caller: Caller, bounds: Sequence[Bound], narrow: Narrow) -> tuple[int, int]:
    """How many sessions and events there are."""
    with connection.cursor() as cursor:
        cursor.execute(_written(FIGURES), _view(caller, bounds, narrow))
        sessions, events = cursor.fetchone()
    return sessions, int(events)


def make_room(*, caller: Caller, bound: Bound, now: datetime) -> None:
    """Where the agent has all the sessions it may, lets go of the tenth of them that was used least lately,
    at least one. The caller holds the lock of the memory."""
    params = {**_reach(caller), "agent": bound.agent_id, "limit": bound.sessions + OTHERS_LET_GO}
    with connection.cursor() as cursor:
        cursor.execute(_written(COUNT), params)
        count: int = cursor.fetchone()[0]
    if count >= bound.sessions:
        tenth = max(1, bound.sessions // 10)
        _let_go(caller, [bound.agent_id], before=None, limit=count - bound.sessions + tenth, now=now)


def let_old_go(*, caller: Caller, agents: Sequence[str], before: datetime, now: datetime) -> int:
    """Lets go of the agents' sessions that were last used before then: how many."""
    return _let_go(caller, agents, before=before, limit=CLEANED, now=now)


def let_namesakes_go(*, caller: Caller, agent_id: str, session: Session, now: datetime) -> datetime | None:
    """Lets go of the other known sessions of the same id, which the caller has locked; the place of the
    first."""
    named: dict[str, Any] = {"agent": agent_id, "session": session.external_id, "kept": session.id}
    with connection.cursor() as cursor:
        cursor.execute(_written(LET_NAMESAKES_GO), {**_reach(caller), **named, "now": now})
        return min((place for (place,) in cursor.fetchall()), default=None)


def empty(*, session: Session, place: datetime, app_name: str, now: datetime) -> None:
    """Lets go of all events of the session, which is known. `app_name`: what the client calls its agent now.
    The caller holds the lock of its row."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "place": place,
        "app_name": app_name,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(EMPTY, params)


def _lock(what: bytes) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [int.from_bytes(hashlib.sha256(what).digest()[:8], signed=True)])


def _let_go(
    caller: Caller, agents: Sequence[str], *, before: datetime | None, limit: int, now: datetime
) -> int:
    which: dict[str, Any] = {"agents": list(agents), "before": before or "infinity", "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_written(LET_OLDEST_GO), {**_reach(caller), **which, "now": now})
        return int(cursor.rowcount)


@cache
def _written(statement: str) -> str:
    """The statement with its parts in place."""
    parts = {"reached": REACHED, "place": PLACE, "seen": SEEN}
    view, namesakes = (Template(one).substitute(parts) for one in (VIEW, NAMESAKES))
    return Template(statement).substitute(parts, view=view, namesakes=namesakes)


def _reach(caller: Caller) -> dict[str, Any]:
    return {"tenant": caller.tenant_id, "user": caller.user_id, "project": caller.project}


def _view(caller: Caller, bounds: Sequence[Bound], narrow: Narrow) -> dict[str, Any]:
    return {
        **_reach(caller),
        "agents": [one.agent_id for one in bounds],
        "most_sessions": [one.sessions for one in bounds],
        "most_events": [one.events for one in bounds],
        "named_user": narrow.user_id,
        "namespace": narrow.namespace,
    }
