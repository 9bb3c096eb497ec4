"""The Celery application of worker and beat."""

import os

from celery import Celery
from celery.signals import worker_init
from django.core.management.base import SystemCheckError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
app = Celery("strata")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def check_deployment(**_kwargs: object) -> None:
    """Ends a worker that could leak. Celery logs the exceptions of its signals' receivers, and goes on."""
    from memoryproject.startup import refuse_unsafe_deployment

    try:
        refuse_unsafe_deployment()
    except SystemCheckError as error:
        raise SystemExit(str(error)) from error
