"""A line in the log for each statement that takes longer than `SLOW_QUERY_MS`."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from memoryproject.sql_text import shape

log = logging.getLogger(__name__)


def watch() -> None:
    """Times the statements of every connection from now on; with 0 milliseconds, none."""
    if settings.SLOW_QUERY_MS:
        connection_created.connect(_watch_connection, dispatch_uid="memoryproject.slow_queries")


def _watch_connection(*, connection: BaseDatabaseWrapper, **_kwargs: object) -> None:
    if _timed not in connection.execute_wrappers:
        # First, not last: a block of `connection.execute_wrapper()` that opened it takes the last one away.
        connection.execute_wrappers.insert(0, _timed)


def _timed(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    began = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        ms = (time.perf_counter() - began) * 1000
        if ms >= settings.SLOW_QUERY_MS:
            _report(str(sql), ms, context)


def _report(sql: str, ms: float, context: dict[str, Any]) -> None:
    """Parameters are left out, and so are the values that stand in the statement itself."""
    told = {"ms": round(ms, 1), "rows": context["cursor"].rowcount, "sql": shape(sql)}
    told["database"] = context["connection"].alias
    log.warning("slow_query", extra={"fields": told})
