"""The trace that is going on, where OpenTelemetry is installed."""

try:
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span
except ImportError:

    def current_trace() -> dict[str, str]:
        """Nothing: there are no traces without OpenTelemetry."""
        return {}

else:

    def current_trace() -> dict[str, str]:
        """`trace_id` and `span_id` of the active span in hexadecimal digits; empty without one."""
        context = get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}
