"""The Celery application of worker and beat."""

import logging.config
import os
from typing import TYPE_CHECKING

from celery import Celery
from celery.signals import beat_init, before_task_publish, setup_logging, worker_init, worker_process_init
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import SystemCheckError

from memoryproject.broker import use_our_transport

if TYPE_CHECKING:
    from celery.worker import WorkController

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
use_our_transport()
app = Celery("strata", task_cls="memoryproject.observed_task:ObservedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def use_our_logging(**_kwargs: object) -> None:
    """Celery's own would write arguments and results."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
def begin_worker(sender: "WorkController", **_kwargs: object) -> None:
    """Ends a worker that could leak. Celery logs the exceptions of its signals' receivers, and goes on."""
    from memoryproject.observing import observe
    from memoryproject.startup import refuse_unsafe_deployment

    try:
        if "prefork" not in str(getattr(sender, "pool_cls", "")):  # there, each child observes itself
            observe("worker")
        refuse_unsafe_deployment()
    except (SystemCheckError, ImproperlyConfigured) as error:
        raise SystemExit(str(error)) from error


@worker_process_init.connect
def begin_worker_child(**_kwargs: object) -> None:
    """In each child of a forking worker."""
    from memoryproject.observing import observe

    observe("worker")


@beat_init.connect
def begin_beat(**_kwargs: object) -> None:
    """Names the process; it runs no task, but sends them."""
    from memoryproject.observing import observe

    try:
        observe("beat")
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from error


@before_task_publish.connect
def send_request_id(headers: dict[str, object], **_kwargs: object) -> None:
    """So that the lines of a task can be found by the request that caused it."""
    from memoryproject.observed_task import REQUEST_ID
    from tenants import log_context

    if (request_id := log_context.current().get("request_id")) is not None:
        headers[REQUEST_ID] = request_id
