"""A session as clients see it that send it as a whole: its messages, and what stands beside them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.scope import scope
from working import store, workspace_queries
from working.memory import decode
from working.models import Event, Session, SessionState
from working.pending import shown
from working.redis import RedisAway
from working.sessions import confine, exact_ref
from working.types import Message, SessionAddress, SessionRef, Turn
from working.unlogged import held_turns, keeps_log
from working.workspace_queries import Row, Stored

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A session with all that a client sends of it. `changed_at` is the moment of its last change, which no
    other change has; `expires_at` None: it is kept for good. `records`: those, too, that it shows no more."""

    session: Session
    messages: tuple[Message, ...]
    records: tuple[Mapping[str, Any], ...]
    data: Mapping[str, Any] | None
    context: str
    strategy: Mapping[str, Any]
    tokens: int
    ttl_seconds: int | None
    expires_at: datetime | None
    changed_at: datetime

    @property
    def memories(self) -> tuple[Mapping[str, Any], ...]:
        """The records that its clients see."""
        return shown(self.records)

    @property
    def version(self) -> int:
        """The moment of the last change as a number: the entity tag."""
        return version_of(self.changed_at)


def version_of(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - EPOCH) // INSTANT


def read_workspace(*, caller: Caller, address: SessionAddress, now: datetime) -> Workspace | None:
    """The session of exactly that user and namespace, or of none where none is named; None if there is none,
    or it has expired. Raises Forbidden when the key does not reach it, and for whoever is not shown
    conversations."""
    if not caller.may_read_conversations:
        raise Forbidden("Conversations are shown to editors.")
    ref = exact_ref(caller, address)
    stored = workspace_queries.find(ref)
    if stored is None:
        return None
    confine(caller, stored.session)
    if has_expired(stored, now):
        return None
    rows = stored.rows
    if not keeps_log(tenant_id=ref.tenant_id, agent_id=stored.session.agent_id):
        rows = held_rows(stored.session, held_turns(caller=caller, ref=ref, now=now))
    return workspace_of(stored, rows, data=data_of(caller, ref, stored, now))


def list_workspaces(
    *,
    caller: Caller,
    namespace: str | None,
    user_id: str | None,
    limit: int,
    offset: int,
    now: datetime,
) -> tuple[list[str], int]:
    """Ids of sessions that have not expired, those used last first, from `offset` on, and how many there are.
    None: of any namespace, or user."""
    named = {"user_id": caller.confine_user(user_id), "namespace": namespace or ""}
    bound = {"agent_id": caller.agent_id, "project": caller.project}
    where = {name: value for name, value in (named | bound).items() if value}
    with scope(caller.tenant_id):
        found = _unexpired(Session.objects.filter(tenant_id=caller.tenant_id, **where), now)
        page = found.order_by("-last_activity_at", "-id").values_list("external_id", flat=True)
        return list(page[offset : offset + limit]), found.count()


def has_expired(stored: Stored, now: datetime) -> bool:
    """Whether its hold is over."""
    return stored.expires_at is not None and stored.expires_at <= now


def workspace_of(
    stored: Stored, rows: Sequence[Row], *, data: Mapping[str, Any] | None, context: str | None = None
) -> Workspace:
    """What the client is told. `context` None: as it is stored."""
    session = stored.session
    return Workspace(
        session=session,
        messages=tuple(message_of(one, stored.extracted_seq) for one in rows),
        records=stored.memories,
        data=data,
        context=session.summary if context is None else context,
        strategy=stored.strategy,
        tokens=stored.tokens,
        ttl_seconds=stored.ttl_seconds,
        expires_at=stored.expires_at,
        changed_at=changed_at(session),
    )


def changed_at(session: Session) -> datetime:
    """When it changed last; of one that has not changed yet, when it began."""
    return session.changed_at or session.started_at


def message_of(row: Row, extracted_seq: int) -> Message:
    """A turn as a message: what is no text, such as calls of tools, as JSON."""
    persisted_at = row.metadata.get("persisted_at")
    return Message(
        seq=row.seq,
        id=row.id,
        role=row.role,
        content=text_of(row),
        created_at=row.created_at,
        persisted_at=datetime.fromisoformat(persisted_at) if persisted_at else None,
        is_extracted=row.seq <= extracted_seq or bool(row.metadata.get("extracted")),
    )


def text_of(row: Row | Event) -> str:
    """What was said in a turn."""
    if isinstance(row.content, str):
        return row.content
    said = row.content if row.content is not None else (row.tool or {}).get("tool_calls")
    return json.dumps(said, ensure_ascii=False)


def data_of(caller: Caller, ref: SessionRef, stored: Stored, now: datetime) -> Mapping[str, Any] | None:
    """What was last sent with the session as a whole, as other clients have changed it since in Redis, and
    what they have put beside it. If Redis has missed the last writer's word, what came with the one before
    counts no more."""
    try:
        fields = store.read_fields(caller=caller, ref=ref, now=now.timestamp(), measure=False)
    except RedisAway:
        fields = None
    if fields is None or not fields.values:
        return stored.data
    held = {name: decode(raw) for name, raw in fields.values.items()}
    kept = stored.data or {}
    if fields.version and stored.written_at and fields.version < version_of(stored.written_at):
        held = {name: value for name, value in held.items() if name not in fields.kept}
        return {**held, **kept}
    return {**kept, **held}


def held_rows(session: Session, held: Sequence[Turn]) -> tuple[Row, ...]:
    """The turns of a session without a log, of those that Redis holds."""
    return tuple(_held(session, turn) for turn in held if turn.seq > session.compacted_seq)


def _held(session: Session, turn: Turn) -> Row:
    """Such a turn does not say when it came."""
    moment = changed_at(session)
    identity = turn.external_id or f"{session.id}-{turn.seq}"
    tool = {"tool_calls": turn.tool_calls} if turn.tool_calls else None
    return Row(turn.seq, identity, turn.role, turn.content, tool, moment, moment, {})


def _unexpired(sessions: QuerySet[Session], now: datetime) -> QuerySet[Session]:
    over = SessionState.objects.filter(expires_at__lte=now, tenant_id=F("tenant_id"))
    return sessions.exclude(Q(id__in=over.values("session_id")))
