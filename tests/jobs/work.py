"""Kinds of jobs for the tests: their effect is a row of the audit log, which nothing else writes."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from tenants import audit
from tenants.jobs import kinds, runner
from tenants.jobs.kinds import GiveUp, Kind, Task
from tenants.jobs.queue import enqueue
from tenants.models import AuditEntry, Job, Tenant
from tenants.scope import scope

EFFECT = "test.effect"


def leave_effect(task: Task, prepared: Any = None) -> None:
    audit.record(tenant_id=task.tenant_id, actor="job", action=EFFECT, target=str(task.payload.get("n", "")))


def kind(apply: Callable[..., Any] = leave_effect, **options: Any) -> str:
    """A new kind of job; its name."""
    name = f"test.{uuid4().hex[:8]}"
    kinds.register(Kind(name, apply, **options))
    return name


def add(tenant: Tenant, name: str, **options: Any) -> UUID:
    options.setdefault("payload", {})
    with scope(tenant.id):
        return enqueue(name, now=timezone.now(), **options)


def effects(tenant: Tenant) -> list[str]:
    with scope(tenant.id):
        found = AuditEntry.objects.filter(tenant_id=tenant.id, action=EFFECT)
        return list(found.order_by("id").values_list("target", flat=True))


def job(tenant: Tenant, job_id: UUID) -> Job | None:
    with scope(tenant.id):
        return Job.objects.filter(tenant_id=tenant.id, id=job_id).first()


def make_due(tenant: Tenant) -> None:
    """As if the waiting times had passed."""
    with scope(tenant.id):
        Job.objects.filter(tenant_id=tenant.id, state="queued").update(run_at=timezone.now())


def run(slow: bool = False) -> int:
    return runner.run_jobs(slow=slow)


def add_inside(tenant: Tenant, name: str) -> UUID:
    """From within a job of the same tenant."""
    return enqueue(name, payload={}, now=timezone.now(), dedup_key="one")


def fail_for_good(task: Task, prepared: Any = None) -> None:
    raise GiveUp("off schema")
