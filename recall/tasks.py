"""Celery's door to the sessions that nobody ends, and to what is done with them at night."""

from celery import shared_task
from django.utils import timezone

from recall.lifecycle import sweep_sessions
from recall.nightly import compact_tenants


@shared_task(name="recall.sweep_sessions", ignore_result=True)
def sweep() -> None:
    """Finds idle sessions; goes on at once while there are more."""
    if sweep_sessions(now=timezone.now()):
        sweep.delay()


@shared_task(name="recall.compact_sessions", ignore_result=True)
def compact() -> None:
    """Has summaries take the place of turns that are indexed one by one."""
    compact_tenants(now=timezone.now())
