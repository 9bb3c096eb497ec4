"""The SQL of whole sessions: one read for all of it, and what a client's list of messages changes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField, TextField
from django.db.models.functions import Cast, Coalesce
from uuid_utils.compat import uuid7

from tenants.json_columns import json_text
from tenants.scope import fetch_alone
from working.models import Event, Session
from working.types import SessionRef

FIELDS = Session._meta.concrete_fields
COLUMNS = [field.column for field in FIELDS]
IDENTITY = """
WHERE s.tenant_id = %(tenant)s AND s.external_id = %(session)s AND s.namespace = %(namespace)s
      AND s.user_id = %(user)s
"""
# What is read next is read as it is once the lock is held: each statement sees what was committed before it.
LOCK = f"SELECT 1 FROM working_session s {IDENTITY} FOR UPDATE"  # noqa: S608
# Everything in one round trip; the messages are those that windows show.
READ = f"""
SELECT {", ".join(f"s.{column}" for column in COLUMNS)},
       w.id IS NOT NULL, w.data, coalesce(w.memories, '[]'), coalesce(w.strategy, '{{}}'),
       coalesce(w.tokens, 0), w.ttl_seconds, w.expires_at, coalesce(w.extracted_seq, 0), w.updated_at,
       (SELECT json_agg(json_build_array(e.seq, coalesce(e.external_id, e.id::text), e.role, e.content,
                                         e.tool, e.created_at, e.recorded_at, e.metadata) ORDER BY e.seq)
        FROM chat_events e
        WHERE e.tenant_id = s.tenant_id AND e.session_id = s.id AND e.seq > s.compacted_seq
              AND e.role <> '' AND e.withdrawn_at IS NULL)
FROM working_session s
LEFT JOIN working_state w ON w.tenant_id = s.tenant_id AND w.session_id = s.id
{IDENTITY}
"""  # noqa: S608

WITHDRAW = """
WITH gone AS (
    UPDATE chat_events SET withdrawn_at = %(now)s
    WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND seq = ANY(%(numbers)s::bigint[])
)
UPDATE working_session SET turn_count = greatest(0, turn_count - cardinality(%(numbers)s::bigint[]))
WHERE tenant_id = %(tenant)s AND id = %(session)s
RETURNING turn_count
"""
# Of messages that are sent again although a summary tells of them, the ids.
COVERED = """
SELECT coalesce(external_id, id::text) FROM chat_events
WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND seq <= %(compacted)s AND role <> ''
      AND withdrawn_at IS NULL
      AND (external_id = ANY(%(ids)s::text[]) OR (external_id IS NULL AND id::text = ANY(%(ids)s::text[])))
"""
# What was said first of what a summary tells of.
COMPACTED = """
SELECT role, content FROM chat_events
WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND seq <= %(compacted)s AND role <> ''
      AND withdrawn_at IS NULL
ORDER BY seq LIMIT %(limit)s
"""
# Whether clients were told this moment as that of the last change.
WAS_TOLD = """
SELECT EXISTS (SELECT 1 FROM working_state
               WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND %(moment)s = ANY(stamps))
    OR EXISTS (SELECT 1 FROM chat_events
               WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND recorded_at = %(moment)s)
"""
# When a session is sent as a whole it is in use again, as when something is said in it.
TOUCH = """
WITH used AS (
    UPDATE working_session SET
        changed_at = %(now)s, last_activity_at = greatest(last_activity_at, %(now)s), ended_at = NULL,
        opened_at = CASE WHEN ended_at IS NULL THEN opened_at ELSE %(now)s END,
        summary = %(summary)s, summary_at = %(summary_at)s, lead = %(lead)s, lead_seq = %(lead_seq)s
    WHERE tenant_id = %(tenant)s AND id = %(session)s
)
"""
# The newest moments stay: one that reads, changes and writes is back long before there are as many others.
SAVE = """
INSERT INTO working_state AS w (id, tenant_id, session_id, data, memories, strategy, tokens, ttl_seconds,
                                expires_at, stamps, extracted_seq, created_at, updated_at)
VALUES (%(id)s, %(tenant)s, %(session)s, %(data)s::jsonb, %(memories)s::jsonb, %(strategy)s::jsonb,
        %(tokens)s, %(ttl)s, %(until)s, ARRAY[%(now)s]::timestamptz[], 0, %(now)s, %(now)s)
ON CONFLICT (tenant_id, session_id) DO UPDATE SET
    expires_at = EXCLUDED.expires_at, stamps = (EXCLUDED.stamps || w.stamps)[1:64]
"""
SAVE_ALL = (
    SAVE
    + """,
    data = EXCLUDED.data, memories = EXCLUDED.memories, strategy = EXCLUDED.strategy,
    tokens = EXCLUDED.tokens, ttl_seconds = EXCLUDED.ttl_seconds, updated_at = EXCLUDED.updated_at
"""
)
STAMP = """
UPDATE working_state SET stamps = (ARRAY[%(now)s]::timestamptz[] || stamps)[1:64]
WHERE tenant_id = %(tenant)s AND session_id = %(session)s
"""
DROP_DATA = """
UPDATE working_state
SET data = CASE WHEN %(names)s::text[] IS NULL THEN NULL ELSE data - %(names)s::text[] END
WHERE tenant_id = %(tenant)s AND session_id = %(session)s AND data IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A turn as it is stored."""

    seq: int
    id: str
    role: str
    content: Any
    tool: Mapping[str, Any] | None
    created_at: datetime
    recorded_at: datetime
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewState:
    """What a write leaves beside the messages."""

    data: Mapping[str, Any] | None
    memories: Sequence[Mapping[str, Any]]
    strategy: Mapping[str, Any]
    tokens: int
    ttl_seconds: int | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Stored:
    """A session, the turns that windows show, and what stands beside them."""

    session: Session
    rows: tuple[Row, ...]
    has_state: bool
    data: Mapping[str, Any] | None
    memories: tuple[Mapping[str, Any], ...]
    strategy: Mapping[str, Any]
    tokens: int
    ttl_seconds: int | None
    expires_at: datetime | None
    extracted_seq: int
    written_at: datetime | None  # when it was last sent as a whole

    def after(self, state: NewState) -> "Stored":
        """The same once `state` is saved."""
        return replace(
            self,
            has_state=True,
            data=state.data,
            memories=tuple(state.memories),
            strategy=state.strategy,
            tokens=state.tokens,
            ttl_seconds=state.ttl_seconds,
            expires_at=state.expires_at,
        )


def find(ref: SessionRef) -> Stored | None:
    """The session of exactly that identity, in the open scope or in one of its own."""
    row = fetch_alone(ref.tenant_id, READ, _identity(ref))
    return None if row is None else _stored(row)


def find_locked(ref: SessionRef) -> Stored | None:
    """Likewise with its row locked. In the open scope. None also when it was just deleted: what may stand
    there anew is not locked."""
    with connection.cursor() as cursor:
        cursor.execute(f"{LOCK}; {READ}", _identity(ref))
        is_locked = cursor.fetchone() is not None
        cursor.nextset()
        row = cursor.fetchone()
    return _stored(row) if is_locked and row is not None else None


def _identity(ref: SessionRef) -> dict[str, Any]:
    return {
        "tenant": ref.tenant_id,
        "session": ref.session_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
    }


def withdraw(*, session: Session, numbers: Sequence[int], now: datetime) -> int:
    """Takes these turns out of the windows; the log keeps those that it has. How many turns are left. Under
    the session's lock."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "numbers": list(numbers),
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(WITHDRAW, params)
        return int(cursor.fetchone()[0])


def covered(*, session: Session, ids: Sequence[str]) -> frozenset[str]:
    """Which of these messages windows leave to the summary."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "compacted": session.compacted_seq,
        "ids": list(ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(COVERED, params)
        return frozenset(one for (one,) in cursor.fetchall())


def compacted(*, session: Session, limit: int) -> list[tuple[str, Any]]:
    """Role and content of the first messages that windows leave to the summary."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "compacted": session.compacted_seq,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(COMPACTED, params)
        return [(role, _json(content)) for role, content in cursor.fetchall()]


def logged(*, session: Session, ids: Sequence[str]) -> set[tuple[str, Any]]:
    """Ids and contents of the texts of these ids that the log has, of those too that were withdrawn."""
    turns = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id).exclude(role="")
    named = turns.annotate(name=Coalesce("external_id", Cast("id", TextField()), output_field=TextField()))
    found = named.filter(name__in=ids).values_list("name", "content")
    return {(name, content) for name, content in found if isinstance(content, str)}


def was_told(*, session: Session, moment: datetime) -> bool:
    """Whether a change of the session, or an event that it took in, was of exactly that moment."""
    params: dict[str, Any] = {"tenant": session.tenant_id, "session": session.id, "moment": moment}
    with connection.cursor() as cursor:
        cursor.execute(WAS_TOLD, params)
        return bool(cursor.fetchone()[0])


def save(*, session: Session, state: NewState, is_whole: bool, now: datetime) -> None:
    """Stores what stands beside the messages, and the session's summary as it is now. Under its lock. Unless
    it was sent as a whole, only the hold is another."""
    params: dict[str, Any] = {
        "id": uuid7(),
        "tenant": session.tenant_id,
        "session": session.id,
        "data": None if state.data is None else json_text(state.data),
        "memories": json_text(list(state.memories)),
        "strategy": json_text(state.strategy),
        "tokens": state.tokens,
        "ttl": state.ttl_seconds,
        "until": state.expires_at,
        "summary": session.summary,
        "summary_at": session.summary_at,
        "lead": session.lead,
        "lead_seq": session.lead_seq,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(TOUCH + (SAVE_ALL if is_whole else SAVE), params)


def stamp(*, session: Session, now: datetime) -> None:
    """Notes that clients may be told this moment as that of the last change. Under the session's lock."""
    params: dict[str, Any] = {"tenant": session.tenant_id, "session": session.id, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(STAMP, params)


def drop_data(*, session: Session, names: Sequence[str] | None) -> None:
    """Lets go of these fields of the data, or of all for None. In the open scope."""
    params: dict[str, Any] = {
        "tenant": session.tenant_id,
        "session": session.id,
        "names": None if names is None else list(names),
    }
    with connection.cursor() as cursor:
        cursor.execute(DROP_DATA, params)


def _stored(row: Sequence[Any]) -> Stored:
    values = [_read(field, value) for field, value in zip(FIELDS, row, strict=False)]
    has_state, data, memories, strategy, tokens, ttl, *rest = row[len(FIELDS) :]
    until, extracted, written_at, turns = rest
    return Stored(
        session=Session.from_db(connection.alias, [field.attname for field in FIELDS], values),
        rows=tuple(_row(*one) for one in _json(turns) or ()),
        has_state=has_state,
        data=_json(data),
        memories=tuple(_json(memories)),
        strategy=_json(strategy),
        tokens=tokens,
        ttl_seconds=ttl,
        expires_at=until,
        extracted_seq=extracted,
        written_at=written_at,
    )


def _read(field: "Field[Any, Any]", value: Any) -> Any:
    return _json(value) if isinstance(field, JSONField) else value


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _row(
    seq: int,
    identity: str,
    role: str,
    content: Any,
    tool: Any,
    created_at: str,
    recorded_at: str,
    metadata: Any,
) -> Row:
    moments = (datetime.fromisoformat(created_at), datetime.fromisoformat(recorded_at))
    return Row(seq, identity, role, content, tool, *moments, metadata)
