"""What Celery runs of the ledger's work."""

from celery import shared_task
from django.utils import timezone

from ledger.expiry import expire_decisions, expire_removals, expire_sampled
from ledger.latency import expire_recalls


@shared_task(name="ledger.expire_decisions", ignore_result=True)
def expire() -> None:
    """Ends write decisions that nobody has decided, and removes old ones; likewise of removed slots, of
    queries that were sampled from sessions, and of what is known of the time that recalls took."""
    now = timezone.now()
    expire_decisions(now=now)
    expire_removals(now=now)
    expire_sampled(now=now)
    expire_recalls(now=now)
