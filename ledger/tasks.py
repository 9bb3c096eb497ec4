"""What Celery runs of the ledger's work."""

from celery import shared_task
from django.utils import timezone

from ledger.expiry import expire_decisions


@shared_task(name="ledger.expire_decisions", ignore_result=True)
def expire() -> None:
    """Ends write decisions that nobody has decided, and removes old ones."""
    expire_decisions(now=timezone.now())
