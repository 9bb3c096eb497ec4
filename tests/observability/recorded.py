"""Spans as a test reads them."""

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memoryproject.spans import WithoutContent


class Spans:
    """What was exported, by way of the filter that all spans leave through."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(WithoutContent(self._exporter)))
        self.tracer = provider.get_tracer("test")

    def all(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def names(self) -> list[str]:
        """In the order in which they ended: inner ones before outer ones."""
        return [span.name for span in self.all()]

    def one(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.all() if span.name == name]
        return span

    def clear(self) -> None:
        self._exporter.clear()


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def events(span: ReadableSpan) -> list[tuple[str, dict[str, object]]]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]
