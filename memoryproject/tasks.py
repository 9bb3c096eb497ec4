"""The worker's sign of life."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from working import redis


@shared_task(name="memoryproject.heartbeat")
def heartbeat() -> None:
    """Tells `/ready` that beat sends and a worker runs."""
    redis.see_worker()


@worker_ready.connect
def first_heartbeat(**kwargs: Any) -> None:
    """The first sign comes with the worker, not with beat's first ring."""
    redis.see_worker()
