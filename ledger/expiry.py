"""The end of write decisions: what was held and nobody has decided, and then the decisions themselves."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from ledger.models import WriteDecision
from tenants.router import admin_role
from tenants.scope import scope

BATCH = 2_000  # rows in one transaction
EXPIRED_BY = "expiry"


def expire_decisions(*, now: datetime) -> int:
    """Rejects what was held for `WRITE_DECISION_DAYS` and drops its text; removes decisions as many days
    after they were made or, if somebody decided them, after that. In every tenant, in short transactions; how
    many.

    A named cross-tenant job: the admin role says which tenants have something, the app role changes it.
    """
    before = now - timedelta(days=settings.WRITE_DECISION_DAYS)
    held = Q(outcome=WriteDecision.Outcome.HELD)
    made = Q(decided_at=None, created_at__lt=before)

    def reject(rows: QuerySet[WriteDecision]) -> None:
        rows.update(outcome=WriteDecision.Outcome.REJECTED, held=None, decided_by=EXPIRED_BY, decided_at=now)

    def remove(rows: QuerySet[WriteDecision]) -> None:
        rows.delete()

    return _each(held & made, reject) + _each(Q(decided_at__lt=before) | (~held & made), remove)


def _each(old: Q, change: Callable[[QuerySet[WriteDecision]], None]) -> int:
    with admin_role():
        tenants = list(WriteDecision.objects.filter(old).values_list("tenant_id", flat=True).distinct())
    return sum(_each_of(tenant_id, old, change) for tenant_id in tenants)


def _each_of(tenant_id: UUID, old: Q, change: Callable[[QuerySet[WriteDecision]], None]) -> int:
    changed = 0
    while True:
        with scope(tenant_id):
            found = WriteDecision.objects.select_for_update(skip_locked=True).filter(old, tenant_id=tenant_id)
            ids = list(found.order_by("created_at", "id").values_list("id", flat=True)[:BATCH])
            change(WriteDecision.objects.filter(tenant_id=tenant_id, id__in=ids))
        changed += len(ids)
        if len(ids) < BATCH:
            return changed
