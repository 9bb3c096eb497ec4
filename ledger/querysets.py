"""The SQL of the injection log and of feedback."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from ledger.models import Feedback, Injection
from working.types import SessionRef


class Reason(NamedTuple):
    """Why something was told: its place among what was found and its score, if it was ranked."""

    rank: int | None = None
    score: float | None = None
    why: str = ""


NO_REASON = Reason()
MARK = """
INSERT INTO ledger_injection (id, tenant_id, namespace, user_id, session, item_key, value, marked_at)
VALUES (%(id)s, %(tenant)s, %(namespace)s, %(user)s, %(session)s, %(item_key)s, %(value)s, %(now)s)
ON CONFLICT (tenant_id, session, namespace, user_id, item_key) WHERE released_at IS NULL
"""
MARK_ALL = """
INSERT INTO ledger_injection (id, tenant_id, namespace, user_id, session, item_key, value, variant, asked,
                              rank, score, why, marked_at)
SELECT id, %(tenant)s, %(namespace)s, %(user)s, %(session)s, item_key, value, variant, %(asked)s,
       rank, score, why, %(now)s
FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(values)s::text[], %(variants)s::text[], %(ranks)s::int[],
            %(scores)s::float8[], %(whys)s::text[])
     AS g (id, item_key, value, variant, rank, score, why)
ORDER BY item_key
ON CONFLICT (tenant_id, session, namespace, user_id, item_key) WHERE released_at IS NULL
DO UPDATE SET value = EXCLUDED.value, variant = EXCLUDED.variant, asked = EXCLUDED.asked,
              rank = EXCLUDED.rank, score = EXCLUDED.score, why = EXCLUDED.why,
              marked_at = EXCLUDED.marked_at
"""
OVERWRITE = (
    MARK + "DO UPDATE SET value = EXCLUDED.value, variant = '', asked = '', rank = NULL, score = NULL, "
    "why = '', marked_at = EXCLUDED.marked_at RETURNING xmax = 0"
)
CLAIM = MARK + "DO NOTHING RETURNING true"
TOLD_BY_VARIANT = """
SELECT variant, count(DISTINCT (namespace, user_id, session)), count(*)
FROM ledger_injection
WHERE tenant_id = %(tenant)s AND marked_at >= %(since)s AND variant <> ''
GROUP BY variant
"""
JUDGED_BY_VARIANT = """
SELECT variant, sum(n), sum(h), count(*), sum(n * n), sum(h * h), sum(n * h)
FROM (
    SELECT variant, count(*) AS n, count(*) FILTER (WHERE verdict = 'helpful') AS h
    FROM ledger_feedback
    WHERE tenant_id = %(tenant)s AND created_at >= %(since)s AND variant <> ''
    GROUP BY variant, user_id, session
) AS sessions
GROUP BY variant
"""
REASONS = """
SELECT reason, count(*), count(*) FILTER (WHERE outcome = 'held')
FROM (SELECT reason, outcome FROM ledger_writedecision
      WHERE tenant_id = %(tenant)s AND created_at >= %(since)s
      ORDER BY created_at DESC, id DESC LIMIT %(most)s) AS newest
GROUP BY reason
"""
# Writers that add to the same hour meet in one row, which neither holds for long.
ADD_RECALLS = """
INSERT INTO ledger_recallhour AS kept (id, tenant_id, hour, buckets)
VALUES (%(id)s, %(tenant)s, %(hour)s, %(buckets)s::bigint[])
ON CONFLICT (tenant_id, hour) DO UPDATE SET buckets = ARRAY(
    SELECT coalesce(was, 0) + coalesce(more, 0)
    FROM unnest(kept.buckets, excluded.buckets) WITH ORDINALITY AS pair (was, more, place) ORDER BY place)
"""
# What is said of a verdict in the place of an earlier one. Its id stays.
RENEWED = ("user_id", "agent_id", "project", "injection_id", "verdict", "note", "variant", "created_at")


def mark(*, ref: SessionRef, item_key: str, value: str, now: datetime) -> bool:
    """Sets the item's live mark; whether it is new."""
    return bool(_write(OVERWRITE, ref, item_key, value, now))


def mark_all(
    *,
    ref: SessionRef,
    items: Mapping[str, str],
    now: datetime,
    variants: Mapping[str, str] = MappingProxyType({}),
    asked: str = "",
    reasons: Mapping[str, Reason] = MappingProxyType({}),
) -> None:
    """Sets the live marks of all items. `variants` and `reasons` of some of them, and the digest of what was
    asked."""
    told = [reasons.get(key, NO_REASON) for key in items]
    params: dict[str, Any] = {
        "tenant": ref.tenant_id,
        "namespace": ref.namespace,
        "user": ref.user_id,
        "session": ref.session_id,
        "now": now,
        "ids": [uuid7() for _ in items],
        "keys": list(items),
        "values": list(items.values()),
        "variants": [variants.get(key, "") for key in items],
        "asked": asked,
        "ranks": [one.rank for one in told],
        "scores": [one.score for one in told],
        "whys": [one.why for one in told],
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


def injections_by_variant(*, tenant_id: UUID, since: datetime) -> dict[str, tuple[int, ...]]:
    """By setting of a trial: the sessions that were told something, and how often."""
    return _by_variant(TOLD_BY_VARIANT, tenant_id, since)


def verdicts_by_variant(*, tenant_id: UUID, since: datetime) -> dict[str, tuple[int, ...]]:
    """Likewise the verdicts, as `ledger.variants.Counted` has them."""
    return _by_variant(JUDGED_BY_VARIANT, tenant_id, since)


def _by_variant(statement: str, tenant_id: UUID, since: datetime) -> dict[str, tuple[int, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"tenant": tenant_id, "since": since})
        return {variant: tuple(map(int, figures)) for variant, *figures in cursor.fetchall()}


def variant_told(*, tenant_id: UUID, user_id: str, session: str, item_key: str) -> str | None:
    """The setting of the newest mark of the item, ended or not; None without one."""
    marks = Injection.objects.filter(
        tenant_id=tenant_id, user_id=user_id, session=session, item_key=item_key
    ).order_by("-marked_at", "-id")
    return marks.values_list("variant", flat=True).first()


def add_recalls(*, tenant_id: UUID, hour: datetime, buckets: Sequence[int]) -> None:
    """Adds to the account of the hour, in the open scope."""
    params: dict[str, Any] = {
        "id": uuid7(),
        "tenant": tenant_id,
        "hour": hour,
        "buckets": list(buckets),
    }
    with connection.cursor() as cursor:
        cursor.execute(ADD_RECALLS, params)


def reasons(*, tenant_id: UUID, since: datetime, most: int) -> list[tuple[str, int, int]]:
    """Of the newest `most` decisions since then: each reason, how many, and how many of these are held."""
    with connection.cursor() as cursor:
        cursor.execute(REASONS, {"tenant": tenant_id, "since": since, "most": most})
        return [(reason, count, held) for reason, count, held in cursor.fetchall()]
