"""A month in the life of a tenant, as far as the overview tells of it."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.utils import timezone

from episodic.models import Episode
from ledger import latency
from ledger.models import Feedback, WriteDecision
from observations.models import Observation
from tenants.models import Job, ProviderUsage
from tenants.scope import scope
from tests.isolation.tables import store

REASONS = ("blocklist", "blocklist", "low_confidence", "allowlist")


def live_a_month(tenant_id: UUID) -> None:
    """Memories of two kinds on each of 30 days, recalls of two days, verdicts, decisions, a dead letter."""
    now = timezone.now()
    with scope(tenant_id):
        Episode.objects.bulk_create(_episodes(tenant_id, now))
        Observation.objects.bulk_create(_observations(tenant_id, now))
        WriteDecision.objects.bulk_create(_decisions(tenant_id, now))
        Feedback.objects.bulk_create(_verdicts(tenant_id, now))
    for hour in range(47):
        for n in range(1 + hour % 7):
            latency.note_recall(
                tenant_id=tenant_id,
                seconds=0.004 + 0.003 * n * (1 + hour % 3),
                now=now - timedelta(hours=hour),
            )
    latency.flush()
    store(Job(tenant_id=tenant_id, kind="test", state="failed", run_at=now, max_attempts=1, created_at=now))
    store(
        ProviderUsage(
            tenant_id=tenant_id, day=now.date(), provider="openai", model="text-embedding-3-small",
            purpose="embed", calls=1_204, input_tokens=240_118, cost_micros=4_802,
        )
    )  # fmt: skip


def _episodes(tenant_id: UUID, now: datetime) -> list[Episode]:
    return [
        Episode(
            tenant_id=tenant_id, text="it rained", created_at=now - timedelta(days=day),
            embed_pending=False,
        )
        for day in range(30)
        for _ in range(1 + (day * 7) % 11)
    ]  # fmt: skip


def _observations(tenant_id: UUID, now: datetime) -> list[Observation]:
    return [
        Observation(
            tenant_id=tenant_id, project="p", type="discovery", title="rain", content="it rains",
            normalized_hash="0" * 64, created_at=now - timedelta(days=day),
            updated_at=now, embed_pending=False,
        )
        for day in range(30)
        for _ in range((day * 5) % 7)
    ]  # fmt: skip


def _decisions(tenant_id: UUID, now: datetime) -> list[WriteDecision]:
    made = [
        WriteDecision(
            tenant_id=tenant_id, kind="episode", outcome="skipped", reason=REASONS[n % 4], created_at=now
        )
        for n in range(38)
    ]
    held = WriteDecision(
        tenant_id=tenant_id, kind="entity", outcome="held", reason="unconfirmed", created_at=now
    )
    return [*made, held]


def _verdicts(tenant_id: UUID, now: datetime) -> list[Feedback]:
    return [
        Feedback(
            tenant_id=tenant_id, kind="episode", memory_id=str(uuid4()), judge="test", session="s",
            verdict="helpful" if (day + n) % 4 else "not_helpful", created_at=now - timedelta(days=day),
        )
        for day in range(0, 30, 1 + (now.day % 2))
        for n in range(1 + day % 5)
    ]  # fmt: skip
