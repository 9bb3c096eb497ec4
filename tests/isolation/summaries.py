"""Rows of summary views."""

import secrets
from uuid import UUID, uuid4

from django.utils import timezone

from episodic.models import SummaryPartition, SummaryRun, SummaryView
from tests.isolation.registry import factory, store


@factory(SummaryView)
def summary_view(tenant_id: UUID) -> SummaryView:
    now = timezone.now()
    return SummaryView(
        tenant_id=tenant_id, group_by=["namespace"], created_at=now, updated_at=now, created_by="test"
    )


@factory(SummaryPartition)
def summary_partition(tenant_id: UUID) -> SummaryPartition:
    parent, now = store(summary_view(tenant_id)), timezone.now()
    return SummaryPartition(
        tenant_id=tenant_id,
        view_id=parent.id,
        group={"namespace": secrets.token_hex(8)},
        memory_count=0,
        oldest_at=now,
        computed_at=now,
    )


@factory(SummaryRun)
def summary_run(tenant_id: UUID) -> SummaryRun:
    parent, now = store(summary_view(tenant_id)), timezone.now()
    return SummaryRun(
        tenant_id=tenant_id,
        view_id=parent.id,
        job_id=uuid4(),
        task_id=secrets.token_hex(8),
        created_at=now,
    )
