"""Traces, if `OTEL_TRACES_EXPORTER` asks for them; if not, nothing that makes or sends them is loaded."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memoryproject import logs
from tenants import log_context, telemetry

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from memoryproject.spans import Traces

EXPORTERS = ("none", "otlp", "console")
# https://www.w3.org/TR/trace-context/#traceparent-header
TRACEPARENT = re.compile(
    r"[0-9a-f]{2}-(?P<trace_id>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII
)


class _Here:
    """This process's traces; a forked child begins its own."""

    traces: "Traces | None" = None


def start(process: str) -> None:
    """Begins to send spans, in the process that has them: exporters' threads do not survive a fork.

    Raises ImproperlyConfigured when the settings name an unknown exporter.
    """
    exporter = settings.OTEL_TRACES_EXPORTER
    if exporter not in EXPORTERS:
        raise ImproperlyConfigured(
            f"OTEL_TRACES_EXPORTER must be one of {', '.join(EXPORTERS)}; not {exporter!r}."
        )
    if exporter == "none" or _Here.traces is not None:
        return
    from memoryproject.spans import Traces

    _Here.traces = Traces(exporter=exporter, process=process)
    logs.add_span_ids(_Here.traces.span_ids)
    telemetry.trace_with(_Here.traces.tracer, content=settings.TRACE_MEMORY_CONTENT)


def request_span(meta: Mapping[str, Any], method: str) -> AbstractContextManager["Span | None"]:
    """The span of a request, a child of the caller's. Without tracing, log lines carry the
    caller's trace id."""
    traceparent = meta.get("HTTP_TRACEPARENT", "")
    if _Here.traces is not None:
        return _Here.traces.request_span(traceparent, meta.get("HTTP_TRACESTATE", ""), method)
    if traceparent and (given := TRACEPARENT.fullmatch(traceparent)):
        log_context.bind(trace_id=given["trace_id"])
    return nullcontext()


def finish_request(span: "Span | None", *, method: str, route: str, status: int) -> None:
    """Names the span, now that the route is known."""
    if span is not None and _Here.traces is not None:
        _Here.traces.finish_request(span, method=method, route=route, status=status)
