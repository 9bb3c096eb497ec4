"""One line per event, as JSON or for a person's eyes: ids, names and figures, never content.

What others write goes through here as well. Messages of exceptions are reduced (`exception_text`), Django's
lines about a request lose its path, Celery's lose arguments and results, and nobody but this project's own
modules is heard below INFO, where libraries tell what they send. docs/observability.md lists the fields.
"""

import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal

from django.core.exceptions import ImproperlyConfigured

from memoryproject.routes import route_of
from tenants import log_context
from tenants.exception_text import describe, traceback_text

Process = Literal["web", "stream", "worker", "beat", "command"]
OURS = frozenset(
    {
        "memoryproject", "api", "console", "recall", "episodic", "observations", "knowledge", "ledger",
        "working", "tenants", "providers",
    }
)  # fmt: skip
LOUDER = {
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    "mcp": logging.WARNING,
}  # at INFO they tell the address of each request
STYLES = ("json", "text")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
log = logging.getLogger(__name__)


class _Here:
    """This process: what it is, and where its lines find the ids of the current span."""

    process: Process = "command"
    span_ids: Callable[[], Mapping[str, str]] = staticmethod(dict)


def configuration(*, level: str, style: str) -> dict[str, Any]:
    """Django's `LOGGING`. A terminal gets text whatever the style: nothing there parses JSON."""
    if style not in STYLES:
        raise ImproperlyConfigured(f"LOG_FORMAT must be one of {', '.join(STYLES)}; not {style!r}.")
    if level not in LEVELS:
        raise ImproperlyConfigured(f"LOG_LEVEL must be one of {', '.join(LEVELS)}; not {level!r}.")
    formatter = TextLines if style == "text" or sys.stderr.isatty() else JsonLines
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "filters": {"relevant": {"()": Relevant}},
        "handlers": {"stderr": {"()": Stderr, "formatter": "line", "filters": ["relevant"]}},
        "root": {"handlers": ["stderr"], "level": level},
        # Django's own handler would print to the terminal what the formatter leaves out.
        "loggers": {
            name: {"handlers": [], "level": "NOTSET", "propagate": True}
            for name in ("django", "django.server")
        },
    }


def name_process(process: Process) -> None:
    """Says which of Strata's processes this one is; from now on, warnings and exceptions that nobody catches
    are lines of the log as well."""
    _Here.process = process
    logging.captureWarnings(True)
    threading.excepthook = lambda ended: log.error(
        "thread_failed",
        exc_info=ended.exc_value,
        extra={"fields": {"thread": getattr(ended.thread, "name", "")}},
    )
    sys.unraisablehook = lambda lost: log.error("exception_lost", exc_info=lost.exc_value)


def add_span_ids(span_ids: Callable[[], Mapping[str, str]]) -> None:
    """`span_ids()` gives `trace_id` and `span_id` of the running span, if any."""
    _Here.span_ids = staticmethod(span_ids)


class Stderr(logging.StreamHandler[Any]):
    """Standard error. A line that cannot be written is not shown with all its arguments, as Python would."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Called while the exception is handled; a full disk or a closed pipe must not end a request."""


class Relevant(logging.Filter):
    """Leaves out what another line says better, and what libraries tell below INFO."""

    def filter(self, record: logging.LogRecord) -> bool:
        package = record.name.partition(".")[0]
        if record.levelno < LOUDER.get(package, logging.INFO):
            return package in OURS
        if record.name == "django.request":
            # The request's own line has the status; a refusal is the caller's business, not the log's.
            return record.exc_info is not None and record.levelno >= logging.ERROR
        if record.name == "celery.app.trace":  # the task's own line has the outcome
            data = getattr(record, "data", None)
            return data is None or bool(data.get("internal"))
        return record.name != "celery.worker.strategy" or record.levelno > logging.INFO


class _Lines(logging.Formatter):
    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Everything a line says, in its order."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry: dict[str, Any] = {
            "time": moment[:-6] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            "process": _Here.process,
        }
        entry.update(log_context.current())
        entry.update(_Here.span_ids())
        entry.update(getattr(record, "fields", ()))
        if (request := getattr(record, "request", None)) is not None and hasattr(request, "path_info"):
            entry.update(method=request.method, route=route_of(request))
        if (error := record.exc_info and record.exc_info[1]) is not None:
            entry["exception"] = traceback_text(error) if error else "unknown"
        return entry


class JsonLines(_Lines):
    """For whatever collects logs: one object per line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.fields(record), ensure_ascii=False, default=str, separators=(",", ":"))


class TextLines(_Lines):
    """For a person: what happened first, then the figures, then the ids."""

    def format(self, record: logging.LogRecord) -> str:
        entry = self.fields(record)
        exception = entry.pop("exception", "")
        head = " ".join(str(entry.pop(name)) for name in ("time", "level", "process", "logger", "message"))
        own = getattr(record, "fields", {})
        told = sorted(entry.items(), key=lambda item: item[0] not in own)
        rest = "".join(f" {name}={_one_line(value)}" for name, value in told)
        return _one_line(head) + rest + (f"\n{exception}" if exception else "")


def _message(record: logging.LogRecord) -> str:  # noqa: PLR0911  one return per kind of line
    """The message with its arguments, unless these are known to say too much."""
    template = describe(record.msg) if isinstance(record.msg, BaseException) else str(record.msg)
    if getattr(record, "request", None) is not None and not _is_ours(record):  # Django's: arguments are paths
        return _phrase(getattr(record, "status_code", 0))
    if record.name == "py.warnings":  # file, line and category stand before the text, which quotes values
        return str((record.args or (template,))[0]).partition("Warning: ")[0] + "Warning"  # type: ignore[index]
    if record.name.startswith("celery.worker.consumer") and "body" in template:
        return template.partition("%")[0].strip()  # the rest would be the message with its arguments
    if record.name == "celery.app.trace" and getattr(record, "data", None):
        return f"Task {record.data['name']} failed inside Celery"  # type: ignore[attr-defined]
    if not record.args:
        return template
    try:
        return str(template % _described(record.args))
    except (TypeError, ValueError, KeyError):
        return template  # its arguments do not fit


def _described(args: Any) -> Any:
    if isinstance(args, Mapping):
        return {name: _safe(value) for name, value in args.items()}
    return tuple(_safe(value) for value in args)


def _safe(value: Any) -> Any:
    return describe(value) if isinstance(value, BaseException) else value


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] in OURS


def _one_line(value: Any) -> str:
    text = str(value)
    return (
        text if text.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in text).split())
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"
