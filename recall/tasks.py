"""Celery's door to the sessions that nobody ends, to what is done with them at night, and to views."""

from celery import shared_task
from django.utils import timezone

from recall.lifecycle import sweep_sessions
from recall.nightly import compact_tenants
from recall.summary_views import refresh_views


@shared_task(name="recall.sweep_sessions", ignore_result=True)
def sweep() -> None:
    """Finds idle sessions; goes on at once while there are more."""
    if sweep_sessions(now=timezone.now()):
        sweep.delay()


@shared_task(name="recall.compact_sessions", ignore_result=True)
def compact() -> None:
    """Has summaries take the place of turns that are indexed one by one."""
    compact_tenants(now=timezone.now())


@shared_task(name="recall.refresh_summary_views", ignore_result=True)
def refresh_summaries() -> None:
    """Has the summaries of continuous views made again, those of records that have changed."""
    refresh_views(now=timezone.now())
