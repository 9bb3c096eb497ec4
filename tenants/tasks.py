"""What Celery runs of the tenants' work."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from tenants import clearing, filling
from tenants.jobs import runner


@shared_task(name="tenants.run_jobs", ignore_result=True)
def run_jobs(slow: bool) -> None:
    """Does the jobs of one lane that are due."""
    runner.run_jobs(slow=slow)


@worker_shutting_down.connect
def begin_no_more(**_kwargs: Any) -> None:
    """A worker that is told to end finishes what it has begun, and leaves the rest to others."""
    runner.ending.set()


@shared_task(name="tenants.fill_generations", ignore_result=True)
def fill_generations() -> None:
    """Has what a change of the embedding model lacks embedded; safe to run twice at once."""
    filling.sweep()


@shared_task(name="tenants.clear_old", ignore_result=True)
def clear_old() -> None:
    """Removes finished jobs, their exports and stored answers that nobody asks for any more."""
    clearing.clear_old(now=timezone.now())
