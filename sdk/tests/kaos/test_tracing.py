"""Events that are made within a trace say so."""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from strata_memory.kaos import LocalMemory


def test_an_event_within_a_span_names_trace_and_span() -> None:
    tracer = TracerProvider().get_tracer("tests")
    with tracer.start_as_current_span("loop") as span:
        event = LocalMemory().create_event("user_message", "Hello", {"a": 1})

    context = span.get_span_context()
    assert event.metadata == {
        "a": 1,
        "trace_id": trace.format_trace_id(context.trace_id),
        "span_id": trace.format_span_id(context.span_id),
    }


def test_an_event_outside_of_any_span_names_none() -> None:
    assert LocalMemory().create_event("user_message", "Hello").metadata == {}
