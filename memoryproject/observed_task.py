"""What every Celery task does besides its work: one line in the log, without arguments and results."""

import logging
import time
from typing import Any

from celery import Task
from celery.exceptions import Ignore, Reject, Retry

from tenants import log_context

log = logging.getLogger(__name__)
REQUEST_ID = "strata_request_id"  # a message's header


class ObservedTask(Task):
    """The base of all tasks."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        request = self.request
        ids = {"task_id": request.id or "", "request_id": getattr(request, REQUEST_ID, None) or ""}
        began = time.perf_counter()
        outcome: dict[str, Any] = {"outcome": "done"}
        level, failure = logging.INFO, None
        with log_context.bound(**{name: value for name, value in ids.items() if value}):
            try:
                return super().__call__(*args, **kwargs)
            except (Ignore, Reject, Retry) as error:  # Celery's ways to say so
                outcome["outcome"] = type(error).__name__.lower()
                raise
            except Exception as error:  # told, and raised again
                outcome["outcome"] = "failed"
                level, failure = logging.ERROR, error
                raise
            finally:
                ms = round((time.perf_counter() - began) * 1000, 2)
                told = {"task": self.name, **outcome, "ms": ms}
                log.log(level, "task", exc_info=failure, extra={"fields": told})
