"""One attempt at a delivery: a POST to a checked address, bounded in time and size."""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import httpx
from django.conf import settings

from webhooks.addresses import Address, Refused, Target, parse, resolve

CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 10.0
MOST_READ = 4_096  # bytes of the answer; what it says does not matter


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: the status, or why there is none. What the receiver wrote is not kept."""

    status: int | None
    error: str
    seconds: float

    @property
    def is_delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def send(url: str, *, body: bytes, headers: Mapping[str, str]) -> Outcome:
    """Posts the body. Outside any scope: it may take `TOTAL_SECONDS` and what the resolver takes."""
    began = time.monotonic()
    try:
        target = parse(url)
        address = resolve(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)[0]
        status = _post(target, address, body, headers)
    except Refused as error:
        return Outcome(None, f"refused: {error}", time.monotonic() - began)
    except (OSError, UnicodeError):
        return Outcome(None, "the host cannot be found", time.monotonic() - began)
    except httpx.TimeoutException:
        return Outcome(None, "timeout", time.monotonic() - began)
    except httpx.HTTPError as error:
        late = time.monotonic() - began >= TOTAL_SECONDS
        return Outcome(None, "timeout" if late else _reason(error), time.monotonic() - began)
    reason = "" if 200 <= status < 300 else f"status {status}"
    return Outcome(status, reason, time.monotonic() - began)


def _post(target: Target, address: Address, body: bytes, headers: Mapping[str, str]) -> int:
    """To the address itself, under the host's name: no second look-up can lead elsewhere. TLS is verified
    against the name."""
    host = f"[{address}]" if address.version == 6 else str(address)
    timeout = httpx.Timeout(TOTAL_SECONDS, connect=CONNECT_SECONDS)
    with _Deadline() as deadline, httpx.Client(timeout=timeout, trust_env=False) as client:
        request = client.build_request(
            "POST",
            f"{target.scheme}://{host}:{target.port}{target.path}",
            content=body,
            headers={"Host": target.authority, "Accept-Encoding": "identity", **headers},
            extensions={"sni_hostname": target.host, "trace": deadline.trace},
        )
        answer = client.send(request, stream=True, follow_redirects=False)
        with closing(answer), suppress(httpx.HTTPError):  # the status has come: the rest may break off
            read = 0
            for piece in answer.iter_raw(MOST_READ):
                read += len(piece)
                if read >= MOST_READ:
                    break
        return answer.status_code


class _Deadline:
    """Ends the connection when the time is over: httpx bounds each read, not all of them together."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(TOTAL_SECONDS, self._end)
        self._timer.daemon = True

    def __enter__(self) -> "_Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What httpx calls for each step of a request."""
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._socket = info["return_value"].get_extra_info("socket")

    def _end(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it has ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)


def _reason(error: httpx.HTTPError) -> str:
    """Without the error's own words, which may quote what the receiver sent."""
    if isinstance(error, httpx.ConnectError):
        is_tls = "certificate" in str(error).lower() or "ssl" in str(error).lower()
        return "TLS could not be verified" if is_tls else "no connection"
    return "the connection broke off"
