"""Removing what has served its time: finished jobs with their exports, and stored answers."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Model, Q

from tenants.models import Job, JobState, StoredAnswer
from tenants.router import admin_role
from tenants.scope import scope

BATCH = 2_000  # rows in one transaction


def clear_old(*, now: datetime) -> int:
    """Removes them in every tenant, in short transactions; how many. Dead letters stay until someone acts.

    A named cross-tenant job: the admin role says which tenants have something, the app role removes it.
    """
    jobs = Q(state=JobState.DONE, finished_at__lt=now - timedelta(days=settings.JOB_KEEP_DAYS))
    answers = Q(created_at__lt=now - timedelta(hours=settings.IDEMPOTENCY_KEEP_HOURS))
    return _clear(Job, jobs) + _clear(StoredAnswer, answers)


def _clear(model: type[Model], old: Q) -> int:
    with admin_role():
        tenants = list(model._default_manager.filter(old).values_list("tenant_id", flat=True).distinct())
    return sum(_clear_tenant(model, old, tenant_id) for tenant_id in tenants)


def _clear_tenant(model: type[Model], old: Q, tenant_id: UUID) -> int:
    cleared = 0
    while True:
        with scope(tenant_id):
            mine = model._default_manager.filter(old, tenant_id=tenant_id)
            ids = list(mine.values_list("id", flat=True)[:BATCH])
            model._default_manager.filter(tenant_id=tenant_id, id__in=ids).delete()
        cleared += len(ids)
        if len(ids) < BATCH:
            return cleared
