"""HTTP under a deadline: however slowly a server answers, no call outlives it.

A read timeout bounds each wait on the socket, not their sum: a server that sends a byte now and then would
hold a caller for ever. Here every wait gets what is left until the deadline of the context it runs in.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Bounds the block's requests; `deadline` is of `time.monotonic()`."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def build_http(base_url: str) -> httpx2.Client:
    """A client for one server, by way of the environment's proxy if there is one. It follows no redirects:
    they would carry memories to an address that nobody configured."""
    parts = urlsplit(base_url)
    direct = proxy_bypass(parts.hostname or "")
    proxy = None if direct else getproxies().get(parts.scheme)
    return httpx2.Client(transport=_DeadlineTransport(proxy=proxy), follow_redirects=False)


class _DeadlineTransport(httpx2.HTTPTransport):
    def __init__(self, *, proxy: str | None) -> None:
        super().__init__(proxy=proxy)
        # The pool takes a backend, but the transport passes none on.
        if not isinstance(getattr(self._pool, "_network_backend", None), httpcore2.NetworkBackend):
            raise RuntimeError("This version of httpcore2 keeps its network backend elsewhere.")
        self._pool._network_backend = _Backend()


class _Backend(httpcore2.SyncBackend):
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore2.NetworkStream:
        end = time.monotonic() + _left(timeout, httpcore2.ConnectTimeout)
        refusal: Exception = httpcore2.ConnectError("The host name has no address.")
        for address in _resolve(host, port, end - time.monotonic()):
            left = end - time.monotonic()
            if left <= 0:
                break
            try:
                return _Stream(super().connect_tcp(address, port, left, *args, **kwargs))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                refusal = error
        raise refusal


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, too_late: type[Exception]) -> float:
    """Seconds that the next step may take."""
    deadline = _deadline.get()
    bounds = [timeout] if timeout is not None else []
    bounds += [deadline - time.monotonic()] if deadline is not None else []
    left = min(bounds, default=60.0)
    if left <= 0:
        raise too_late("The deadline has passed.")
    return left


def _resolve(host: str, port: int, seconds: float) -> Iterable[str]:
    """The host's addresses. A resolver knows no timeout: it is asked in a thread that may be left behind."""
    answer: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.put([str(address[0]) for *_rest, address in found])
        except (OSError, UnicodeError) as error:  # a name may be none at all
            answer.put(error)

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        result = answer.get(timeout=max(seconds, 0))
    except queue.Empty:
        raise httpcore2.ConnectTimeout("The host name was not resolved in time.") from None
    if isinstance(result, Exception):
        raise httpcore2.ConnectError("The host name cannot be resolved.") from result
    return result
