"""OpenTelemetry: the process's tracer, and what of a span may leave the process."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from memoryproject.sql_text import shape
from tenants import telemetry

# Everything else that an instrumentation records stays here: exceptions quote what they were given, and an
# update of a library may bring attributes that nobody has looked at.
KEPT = frozenset(
    {
        "http.request.method", "http.route", "http.response.status_code", "db.system", "db.name", "db.user",
        "db.redis.args_length", "db.redis.pipeline_length", "db.redis.database_index", "net.peer.name",
        "net.peer.port", "net.transport", "celery.action", "celery.task_name", "celery.state",
        "celery.hostname", "celery.retries", "messaging.message.id", "messaging.destination",
    }
    | telemetry.ATTRIBUTES
)  # fmt: skip


class Traces:
    """The tracer of one process."""

    def __init__(self, *, exporter: str, process: str) -> None:
        """`exporter`: `otlp` or `console`. Endpoint, headers, sampling and queue: the standard variables."""
        where: SpanExporter = ConsoleSpanExporter() if exporter == "console" else OTLPSpanExporter()
        named = OTELResourceDetector().detect().attributes.get("service.name")
        about = {"strata.process": process} | ({} if named else {"service.name": "strata"})
        provider = TracerProvider(resource=Resource.create(about))
        provider.add_span_processor(BatchSpanProcessor(WithoutContent(where)))
        trace.set_tracer_provider(provider)
        # Trace context alone: a caller's baggage, which may say anything, would travel on into messages.
        self._propagator = TraceContextTextMapPropagator()
        propagate.set_global_textmap(self._propagator)
        self.tracer = provider.get_tracer("strata")
        for instrumentor in (PsycopgInstrumentor(), RedisInstrumentor(), CeleryInstrumentor()):  # type: ignore[no-untyped-call]
            instrumentor.instrument(tracer_provider=provider)

    @contextmanager
    def request_span(self, traceparent: str, tracestate: str, method: str) -> Iterator[Span]:
        """The server's span around a request. Not the instrumentation of Django: that refuses requests whose
        Host header is not in ALLOWED_HOSTS, and records paths."""
        carrier = {"traceparent": traceparent, "tracestate": tracestate}
        caller = self._propagator.extract(carrier) if traceparent else None
        with self.tracer.start_as_current_span(
            method, context=caller, kind=SpanKind.SERVER, record_exception=False
        ) as span:
            yield span

    def finish_request(self, span: Span, *, method: str, route: str, status: int) -> None:
        """What is known of a request at its end."""
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {"http.request.method": method, "http.route": route, "http.response.status_code": status}
        )
        if status >= 500:
            span.set_status(StatusCode.ERROR)

    def span_ids(self) -> Mapping[str, str]:
        """`trace_id` and `span_id` of the running span, as W3C writes them."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {
            "trace_id": trace.format_trace_id(context.trace_id),
            "span_id": trace.format_span_id(context.span_id),
        }


class WithoutContent(SpanExporter):
    """Lets spans out with the attributes of `KEPT` and the shape of their SQL; of events, those of memories
    and the type of an exception."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        kept = [_without_content(span) for span in spans if not _is_idle_polling(span)]
        return self._inner.export(kept) if kept else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


def _is_idle_polling(span: ReadableSpan) -> bool:
    """A query outside of any request or task: the broker's polling, probes of the metrics."""
    return span.kind is SpanKind.CLIENT and span.parent is None


def _without_content(span: ReadableSpan) -> ReadableSpan:
    attributes: dict[str, Any] = {k: v for k, v in (span.attributes or {}).items() if k in KEPT}
    statement = (span.attributes or {}).get("db.statement")
    if attributes.get("db.system") == "postgresql" and isinstance(statement, str):
        attributes["db.statement"] = shape(statement)
    return ReadableSpan(
        name=span.name, context=span.context, parent=span.parent, resource=span.resource,
        attributes=attributes, events=[_kept(event) for event in span.events], links=span.links,
        kind=span.kind, status=Status(span.status.status_code), start_time=span.start_time,
        end_time=span.end_time, instrumentation_scope=span.instrumentation_scope,
    )  # fmt: skip


def _kept(event: Event) -> Event:
    wanted = telemetry.EVENT_ATTRIBUTES if event.name in telemetry.EVENTS else {"exception.type"}
    attributes = {name: value for name, value in (event.attributes or {}).items() if name in wanted}
    return Event(event.name, attributes, event.timestamp)
