"""The end of write decisions: what was held and nobody has decided, and then the decisions themselves. And of
what is known of removed slots, and of queries that were sampled from sessions."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Min, Q, QuerySet

from ledger.models import EvaluationQuery, SlotRemoval, WriteDecision
from tenants.models import Job, JobState
from tenants.policy.reading import read_policy
from tenants.router import admin_role
from tenants.scope import scope

BATCH = 2_000  # rows in one transaction
EXPIRED_BY = "expiry"
SHORTEST_RETENTION = timedelta(days=30)  # that a policy may say
UNDONE = (JobState.QUEUED, JobState.RUNNING, JobState.FAILED)  # may still be done, or replayed


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


def expire_removals(*, now: datetime) -> int:
    """Forgets slots that were removed `WRITE_DECISION_DAYS` ago, in every tenant; how many. Not while a job
    from before the removal may still be done: it would bring back what was removed. A named cross-tenant job.
    """
    old = Q(removed_at__lt=now - timedelta(days=settings.WRITE_DECISION_DAYS))
    with admin_role():
        tenants = list(SlotRemoval.objects.filter(old).values_list("tenant_id", flat=True).distinct())
    return sum(_forget_of(tenant_id, old) for tenant_id in tenants)


def expire_sampled(*, now: datetime) -> int:
    """Deletes queries that were sampled from sessions when they are older than `retention.episodes_days`, in
    every tenant; how many. A named cross-tenant job."""
    old = Q(source=EvaluationQuery.Source.SAMPLED, created_at__lt=now - SHORTEST_RETENTION)
    with admin_role():
        found = EvaluationQuery.objects.filter(old).order_by().values_list("tenant_id", "agent_id")
        levels = list(found.distinct())
    return sum(_expire_sampled_of(tenant_id, agent_id, old, now) for tenant_id, agent_id in levels)


def _expire_sampled_of(tenant_id: UUID, agent_id: str, old: Q, now: datetime) -> int:
    days = read_policy(tenant_id=tenant_id, agent_id=agent_id).retention.episodes_days
    with scope(tenant_id):
        theirs = EvaluationQuery.objects.filter(old, tenant_id=tenant_id, agent_id=agent_id)
        return theirs.filter(created_at__lt=now - timedelta(days=days)).delete()[0]


def _forget_of(tenant_id: UUID, old: Q) -> int:
    with scope(tenant_id):
        undone = Job.objects.filter(tenant_id=tenant_id, state__in=UNDONE).exclude(user_id="")
        oldest = undone.aggregate(oldest=Min("created_at"))["oldest"]
        outlived = Q() if oldest is None else Q(removed_at__lt=oldest)
        return SlotRemoval.objects.filter(old, outlived, tenant_id=tenant_id).delete()[0]


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
