"""A collector of traces on loopback: what it is sent over OTLP/HTTP, raw and parsed."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    def __init__(self) -> None:
        self.raw: list[bytes] = []
        self.spans: list[dict[str, Any]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(gzip.decompress(body) if self.headers.get("Content-Encoding") else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, body: bytes) -> None:
        self.raw.append(body)
        # All at once: whoever has seen the server's span looks for the others.
        self.spans += [
            {
                "name": span.name,
                "kind": span.kind,
                "trace": span.trace_id.hex(),
                "id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "attributes": attributes(span.attributes),
                "events": [attributes(event.attributes) for event in span.events],
                "event_names": [event.name for event in span.events],
                "resource": attributes(group.resource.attributes),
            }
            for group in ExportTraceServiceRequest.FromString(body).resource_spans
            for scoped in group.scope_spans
            for span in scoped.spans
        ]

    def of_trace(self, trace: str) -> list[dict[str, Any]]:
        return [span for span in list(self.spans) if span["trace"] == trace]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}
