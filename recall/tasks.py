"""Celery's door to the sessions that nobody ends."""

from celery import shared_task
from django.utils import timezone

from recall.lifecycle import sweep_sessions


@shared_task(name="recall.sweep_sessions", ignore_result=True)
def sweep() -> None:
    """Finds idle sessions; goes on at once while there are more."""
    if sweep_sessions(now=timezone.now()):
        sweep.delay()
