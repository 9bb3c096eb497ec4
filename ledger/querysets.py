"""The SQL of the injection log and of feedback."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from ledger.models import Feedback, Injection
from working.types import SessionRef

MARK = """
INSERT INTO ledger_injection (id, tenant_id, namespace, user_id, session, item_key, value, marked_at)
VALUES (%(id)s, %(tenant)s, %(namespace)s, %(user)s, %(session)s, %(item_key)s, %(value)s, %(now)s)
ON CONFLICT (tenant_id, session, namespace, user_id, item_key) WHERE released_at IS NULL
"""
MARK_ALL = """
INSERT INTO ledger_injection (id, tenant_id, namespace, user_id, session, item_key, value, marked_at)
SELECT id, %(tenant)s, %(namespace)s, %(user)s, %(session)s, item_key, value, %(now)s
FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(values)s::text[]) AS g (id, item_key, value)
ORDER BY item_key
ON CONFLICT (tenant_id, session, namespace, user_id, item_key) WHERE released_at IS NULL
DO UPDATE SET value = EXCLUDED.value, marked_at = EXCLUDED.marked_at
"""
OVERWRITE = MARK + "DO UPDATE SET value = EXCLUDED.value, marked_at = EXCLUDED.marked_at RETURNING xmax = 0"
CLAIM = MARK + "DO NOTHING RETURNING true"
# What is said of a verdict in the place of an earlier one. Its id stays.
RENEWED = ("user_id", "agent_id", "project", "injection_id", "verdict", "note", "created_at")


def mark(*, ref: SessionRef, item_key: str, value: str, now: datetime) -> bool:
    """Sets the item's live mark; whether it is new."""
    return bool(_write(OVERWRITE, ref, item_key, value, now))


def mark_all(*, ref: SessionRef, items: Mapping[str, str], now: datetime) -> None:
    """Sets the live marks of all items."""
    params: dict[str, Any] = {
        "tenant": ref.tenant_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
        "session": ref.session_id,
        "now": now,
        "ids": [uuid7() for _ in items],
        "keys": list(items),
        "values": list(items.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(MARK_ALL, params)


def claim(*, ref: SessionRef, item_key: str, value: str, now: datetime) -> bool:
    """Sets the item's live mark unless there is one; whether this call set it."""
    return bool(_write(CLAIM, ref, item_key, value, now))


def release(*, ref: SessionRef, now: datetime, item_key: str | None = None) -> int:
    """Ends the live marks of one item or, for None, of the session; how many there were."""
    live = Injection.objects.filter(**_identity(ref), released_at=None)
    if item_key is not None:
        live = live.filter(item_key=item_key)
    return live.update(released_at=now)


def live_items(ref: SessionRef) -> dict[str, str]:
    """The session's live marks."""
    live = Injection.objects.filter(**_identity(ref), released_at=None)
    return dict(live.order_by("item_key").values_list("item_key", "value"))


def with_live_items(*, tenant_id: UUID, refs: Sequence[SessionRef]) -> set[SessionRef]:
    """Those of the sessions that have a live mark."""
    names = [ref.session_id for ref in refs]
    live = Injection.objects.filter(tenant_id=tenant_id, session__in=names, released_at=None)
    found = live.values_list("namespace", "user_id", "session").distinct()
    return {SessionRef(tenant_id, *identity) for identity in found} & set(refs)


def _identity(ref: SessionRef) -> dict[str, str | UUID]:
    return {
        "tenant_id": ref.tenant_id,
        "session": ref.session_id,
        "namespace": ref.namespace,
        "user_id": ref.user_id,
    }


def _write(statement: str, ref: SessionRef, item_key: str, value: str, now: datetime) -> bool | None:
    params: dict[str, Any] = {
        "id": uuid7(),
        "tenant": ref.tenant_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
        "session": ref.session_id,
        "item_key": item_key,
        "value": value,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        row = cursor.fetchone()
    return row[0] if row else None


def put_feedback(row: Feedback) -> Feedback:
    """Stores the verdict, over that of the same judge about the same memory in the same session."""
    (kept,) = Feedback.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["tenant", "kind", "memory_id", "judge", "session"],
        update_fields=RENEWED,
    )
    # The id that PostgreSQL kept: Django leaves the one that was minted for the row.
    kept.id = Feedback.objects.values_list("id", flat=True).get(
        tenant_id=row.tenant_id,
        kind=row.kind,
        memory_id=row.memory_id,
        judge=row.judge,
        session=row.session,
    )
    return kept
