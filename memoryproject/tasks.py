"""The worker's sign of life."""

from celery import shared_task

from working import redis


@shared_task(name="memoryproject.heartbeat")
def heartbeat() -> None:
    """Tells `/ready` that beat sends and a worker runs."""
    redis.see_worker()
