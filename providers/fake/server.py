"""The fake server's socket side."""

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from providers.fake import answers
from providers.fake.behaviour import Behaviour, Control
from providers.fake.vectors import count_tokens, vector_of

HANG_SECONDS = 3_600


class _Gone(Exception):
    """The connection ends without an answer."""


class _Refused(Exception):
    """An error answer as the API writes it."""

    def __init__(
        self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}
        self.body = {"error": {"message": message, "type": "fake", "param": None, "code": code or None}}


class FakeProvider:
    """The server, running from `start()` to `stop()`, or while it is a context; see `providers.fake`."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **behaviour: Any) -> None:
        """Port 0: a free one. Keywords are fields of `Behaviour`."""
        self._control = Control(**behaviour)
        self._host, self._port = host, port
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """What clients are given; it stays the same over a stop and another start."""
        shown = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{shown}:{self._port}/v1"

    @property
    def behaviour(self) -> Behaviour:
        return self._control.behaviour

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The last 100: path, headers without the key, body."""
        requests: list[dict[str, Any]] = self._control.state()["requests"]
        return requests

    def count(self, path: str) -> int:
        """How many requests to `/v1/…` there were, or how often a fault struck."""
        return self._control.counts[path]

    def control(self, **changes: Any) -> None:
        """Changes the behaviour as `/control` does."""
        self._control.change(changes)

    def reset(self) -> None:
        """Forgets requests and faults."""
        self._control.reset()

    def start(self) -> None:
        self._server = _Server((self._host, self._port), self._control)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Nothing listens any more; open connections are closed."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.leave_all()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], control: Control) -> None:
        self.control = control
        self.gone = threading.Event()
        self._open: set[Any] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no news here."""

    def leave_all(self) -> None:
        self.gone.set()
        for request in list(self._open):
            self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written apart; the second would wait for the first
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `/control` shows what was asked."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(content) if content else None
            if self.path == "/control":
                self._answer(200, self._change(body))
                return
            self.server.control.note(self.path, dict(self.headers.items()), body)
            self._answer(200, self._respond(method, body))
        except _Refused as error:
            self._answer(error.status, error.body, error.headers)
        except _Gone:
            self.close_connection = True
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._answer(400, {"error": {"message": f"{type(error).__name__}: {error}", "code": None}})

    def _change(self, body: Any) -> dict[str, Any]:
        changes = dict(body or {})
        if changes.pop("reset", False):
            self.server.control.reset()
        try:
            self.server.control.change(changes)
        except ValueError as error:
            raise _Refused(400, str(error)) from error
        return self.server.control.state()

    def _respond(self, method: str, body: Any) -> Any:
        self._misbehave()
        route = (method, self.path)
        if route == ("GET", "/v1/models"):
            return {"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "fake"}]}
        if route == ("POST", "/v1/embeddings"):
            return embeddings(self.server.control, body)
        if route == ("POST", "/v1/chat/completions"):
            return completion(self.server.control, body)
        raise _Refused(404, f"There is no {method} {self.path}.")

    def _misbehave(self) -> None:
        control = self.server.control
        behaviour = control.behaviour
        if control.strikes("dead"):
            raise _Gone
        if control.strikes("hung"):
            self.server.gone.wait(HANG_SECONDS)
            raise _Gone
        if behaviour.slow:
            self.server.gone.wait(behaviour.slow)
        if behaviour.api_key and self.headers.get("Authorization") != f"Bearer {behaviour.api_key}":
            raise _Refused(401, "Incorrect API key provided.", "invalid_api_key")
        if control.strikes("rate_limited"):
            wait = {"Retry-After": behaviour.retry_after} if behaviour.retry_after else {}
            raise _Refused(429, "Rate limit reached.", "rate_limit_exceeded", wait)
        if behaviour.wrong_kind == "500" and control.strikes("wrong"):
            raise _Refused(500, "The server had an error.")

    def _answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        control = self.server.control
        data = json.dumps(body).encode()
        spoil = self.path != "/control" and status == 200 and control.behaviour.wrong_kind == "garbage"
        if spoil and control.strikes("wrong"):
            data = b"<html>Bad gateway</html>"
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "x-request-id": "fake-1"} | (headers or {})
        ).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        pause = control.behaviour.slow_byte if self.path != "/control" else 0
        for piece in [data] if not pause else [data[at : at + 1] for at in range(len(data))]:
            time.sleep(pause)
            self.wfile.write(piece)


def embeddings(control: Control, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of `/v1/embeddings`."""
    behaviour = control.behaviour
    texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
    if not texts or not all(texts):
        raise _Refused(400, "'$.input' is invalid: an input cannot be an empty string.")
    tokens = [count_tokens(text) for text in texts]
    if max(tokens) > behaviour.max_tokens:
        raise _Refused(400, f"This model's maximum context length is {behaviour.max_tokens} tokens.")
    if "dimensions" in body and behaviour.no_dimensions:
        raise _Refused(400, "This model does not support specifying dimensions.")
    size = body.get("dimensions") or behaviour.dimensions
    kind = behaviour.wrong_kind
    spoilt = kind in {"count", "dimensions", "nan", "zero", "index"} and control.strikes("wrong")
    kind = kind if spoilt else "500"
    vectors = [vector_of(text, size + (kind == "dimensions")) for text in texts]
    if kind in {"nan", "zero"}:
        vectors[-1][:] = float(kind) if kind == "nan" else 0
    as_text = body.get("encoding_format") == "base64" and not control.strikes("floats")
    data = [
        {
            "object": "embedding",
            "index": 0 if kind == "index" else position,
            "embedding": base64.b64encode(one.tobytes()).decode() if as_text else one.tolist(),
        }
        for position, one in enumerate(vectors)
    ]
    if control.strikes("shuffled"):
        data.reverse()
    return {
        "object": "list",
        "model": body["model"],
        "data": data[:-1] if kind == "count" else data,
        "usage": {"prompt_tokens": sum(tokens), "total_tokens": sum(tokens)},
    }


def completion(control: Control, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of `/v1/chat/completions`."""
    asked = (body.get("response_format") or {"type": "text"})["type"]
    if asked not in control.behaviour.formats:
        raise _Refused(400, f"'response_format' of type '{asked}' is not supported with this model.")
    text = answers.source_text(body["messages"])
    schema = answers.find_schema(body)
    value = answers.fill(schema, text) if schema else text
    if control.strikes("off_schema"):
        value = answers.off_schema(value)
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    content = control.behaviour.says or content
    finish, refusal = "stop", None
    if control.strikes("fenced"):
        content = f"```json\n{content}\n```"
    if control.strikes("truncated"):
        content, finish = content[: len(content) // 2], "length"
    if control.strikes("filtered"):
        content, finish = "", "content_filter"
    if control.strikes("refusal"):
        refusal = "I cannot help with that."
    prompt_tokens = sum(count_tokens(str(message.get("content"))) for message in body["messages"])
    return {
        "id": "fake-completion",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {
                    "role": "assistant", "content": None if refusal else content, "refusal": refusal,
                },
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": count_tokens(content),
            "total_tokens": prompt_tokens + count_tokens(content),
        },
    }  # fmt: skip
