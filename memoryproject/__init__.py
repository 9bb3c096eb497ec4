"""The project: settings, URLs, servers. Importing it readies Celery for `shared_task`."""

from memoryproject.celery import app as celery_app

__all__ = ["celery_app"]
