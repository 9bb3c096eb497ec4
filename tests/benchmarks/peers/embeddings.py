"""This installation's embedding model at an OpenAI-compatible address, where peers ask for vectors."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from providers.embeddings import get_embedder


class Endpoint:
    """Counts nothing, checks nothing, listens on loopback. `remember` keeps vectors by their text."""

    def __init__(self) -> None:
        self._kept: dict[str, list[float]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def remember(self, texts: Sequence[str]) -> None:
        """These are answered without the model from now on: for filling, never for what is timed."""
        new = list(dict.fromkeys(text for text in texts if text not in self._kept))
        self._kept |= dict(zip(new, get_embedder().embed(new).tolist(), strict=True)) if new else {}

    def forget(self) -> None:
        """Back to the model."""
        self._kept = {}

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """One for each text."""
        if all(text in self._kept for text in texts):
            return [self._kept[text] for text in texts]
        vectors: list[list[float]] = get_embedder().embed(texts).tolist()
        return vectors

    def serve(self) -> None:
        """Until `stop`."""
        self._server.serve_forever(poll_interval=0.1)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # header and body in one packet

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
                body = json.dumps(_answer(endpoint.vectors(texts), asked["model"])).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        return Handler


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Serves while the block runs."""
    opened = Endpoint()
    thread = threading.Thread(target=opened.serve, daemon=True)
    thread.start()
    try:
        yield opened
    finally:
        opened.stop()
        thread.join()


def _answer(vectors: Sequence[Sequence[float]], model: str) -> dict[str, Any]:
    data = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(vectors)]
    return {"object": "list", "model": model, "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
