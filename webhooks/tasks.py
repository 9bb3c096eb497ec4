"""What Celery runs of the webhooks' work."""

from celery import shared_task
from django.utils import timezone

from webhooks.clearing import clear_deliveries
from webhooks.delivering import sweep


@shared_task(name="webhooks.sweep", ignore_result=True)
def sweep_deliveries() -> None:
    """Has what is due sent: retries, and what was lost on the way."""
    sweep(now=timezone.now())


@shared_task(name="webhooks.clear", ignore_result=True)
def clear() -> None:
    """Removes old deliveries."""
    clear_deliveries(now=timezone.now())
