"""A server that does each write once, as Strata does, and can be away, fail, or die in the middle."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = {"accepted": 1, "duplicates": 0, "turn_count": 1, "summarised": False}
STATS = {"total_sessions": 0, "total_events": 0, "avg_events_per_session": 0}


class Recording:
    """`done` has what each write said, in order. `before`, given a text, may answer a status instead of doing
    it; `after` may keep the answer back by raising ConnectionError."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: dict[str, str] = {}
        self.asked: list[str] = []
        self.before: Callable[[str], int | None] = lambda text: None
        self.after: Callable[[str], None] = lambda text: None
        self.url = ""

    def do(self, key: str, body: bytes) -> tuple[int, dict[str, Any]]:
        text = json.loads(body)["turns"][0]["content"]
        self.asked.append(text)
        status = self.before(text)
        if status is not None:
            return status, {"detail": f"No {text}.", "errors": []}
        if key not in self.keys:
            self.keys[key] = text
            self.done.append(text)
        self.after(text)
        return 200, DONE


@contextmanager
def recording(server: Recording, port: int = 0) -> Iterator[Recording]:
    """Serves on loopback; on a port of before, the same server is back."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                self._answer(*server.do(self.headers["Idempotency-Key"], body))
            except ConnectionError:
                self.close_connection = True

        def do_GET(self) -> None:
            self._answer(200, {"results": [], "next": None} if "?" in self.path else STATS)

        def _answer(self, status: int, told: dict[str, Any]) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
