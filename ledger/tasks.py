"""What Celery runs of the ledger's work."""

from celery import shared_task
from django.utils import timezone

from ledger.expiry import expire_decisions, expire_removals


@shared_task(name="ledger.expire_decisions", ignore_result=True)
def expire() -> None:
    """Ends write decisions that nobody has decided, and removes old ones; likewise of removed slots."""
    now = timezone.now()
    expire_decisions(now=now)
    expire_removals(now=now)
