"""Sources that answer over HTTP: each call has a deadline, and is repeated while the server is in trouble."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from memoryproject.importing.errors import (
    ImportFailed,
    SourceMalformed,
    SourceRefused,
    SourceUnknown,
    SourceUnreachable,
)
from memoryproject.replay.client import LOOPBACK

ATTEMPTS = 4
LONGEST_WAIT = 30.0  # seconds between attempts, whatever Retry-After says
DEADLINE = 120.0  # seconds that one answer may take as a whole
SLOWEST = 1_024  # bytes a second that an answer of any length has to bring beyond those
TIMEOUT = httpx.Timeout(60.0, connect=5.0)  # until the next byte
LONGEST = 64 * 1024 * 1024  # bytes of an answer that is held as a whole
REPEATED = frozenset({429, 500, 502, 503, 504})
T = TypeVar("T")
AGAIN = "run the same command again to go on from there."


class _Busy(ImportFailed):
    def __init__(self, message: str, wait: float | None) -> None:
        super().__init__(message)
        self.wait = wait


class WebSource:
    """A server's answers. No message of its errors holds a key, or the address with what it was given."""

    def __init__(
        self, url: str, *, headers: Mapping[str, str], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        try:
            parts = urlsplit(url)
            self.shown = f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")
            self._http = httpx.Client(
                base_url=url.rstrip("/"),
                headers=dict(headers),
                timeout=TIMEOUT,
                trust_env=parts.hostname not in LOOPBACK,
            )
        except (httpx.InvalidURL, ValueError, UnicodeEncodeError):
            raise SourceUnknown("This is no address like http://127.0.0.1:8000.") from None
        self._sleep = sleep
        self._has_answered = False

    def get(self, path: str, **params: Any) -> Any:
        """The JSON that the path answers; None for 404."""
        return self._repeated(lambda: self._answer("GET", path, params=_given(params)))

    def post(self, path: str, body: Any) -> Any:
        """Likewise, for a call that only reads."""
        return self._repeated(lambda: self._answer("POST", path, json=body))

    @contextmanager
    def stream(self, path: str) -> Iterator["Stream"]:
        """An answer of any length. Only its beginning is repeated."""
        response = self._repeated(lambda: self._begun(path))
        try:
            yield Stream(response, self._lost)
        finally:
            response.close()

    def _repeated(self, call: Callable[[], T]) -> T:
        for attempt in range(ATTEMPTS - 1):
            try:
                return call()
            except _Busy as busy:
                self._sleep(0.5 * 2**attempt if busy.wait is None else busy.wait)
        try:
            return call()
        except _Busy as busy:
            raise SourceUnreachable(f"{busy} It was asked {ATTEMPTS} times; {AGAIN}") from busy

    def _begun(self, path: str) -> httpx.Response:
        try:
            response = self._http.send(self._http.build_request("GET", path), stream=True)
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        self._has_answered = True
        if not response.is_success:
            response.close()
            self._check(response, path)
        return response

    def _answer(self, method: str, path: str, **request: Any) -> Any:
        began, body = time.monotonic(), bytearray()
        try:
            with self._http.stream(method, path, **request) as response:
                self._has_answered = True
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() - began > DEADLINE or len(body) > LONGEST:
                        raise SourceUnreachable(f"{self.shown} answers {path} too slowly, or too much.")
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        if response.status_code == 404:
            return None
        self._check(response, path)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise SourceMalformed(f"{self.shown} answered {path} with something else than JSON.") from None

    def _check(self, response: httpx.Response, path: str) -> None:
        status = response.status_code
        if status in REPEATED:
            raise _Busy(f"{self.shown} answered {status} to {path}.", _wait(response))
        if status in (401, 403):
            raise SourceRefused(
                f"{self.shown} answered {status}: name a key that may read there, with --api-key or in "
                "IMPORT_API_KEY."
            )
        if not response.is_success:
            raise SourceUnknown(f"{self.shown} answered {status} to {path}: is this the right address?")

    def _lost(self, error: Exception) -> ImportFailed:
        """Who has answered before may be there again in a moment."""
        if not self._has_answered and isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return SourceUnreachable(
                f"{self.shown} cannot be reached ({type(error).__name__}): is it running at this address?"
            )
        return _Busy(f"{self.shown} did not answer, or no longer ({type(error).__name__}).", None)


class Stream:
    """The bytes of an answer as a file that is read once."""

    def __init__(self, response: httpx.Response, lost: Callable[[Exception], ImportFailed]) -> None:
        # As they come: of pieces that are filled first, a slow one would keep us without a chance to look.
        self._pieces, self._lost = response.iter_bytes(), lost
        self._left = b""
        self._waited, self._received = 0.0, 0
        self.position = 0

    def read(self, size: int = -1, /) -> bytes:
        """At most so many of the next bytes; none at the end. Raises SourceUnreachable."""
        if not size:
            return b""  # a parser asks for none to learn whether it reads bytes
        if not self._left:
            self._left = self._next()
        piece, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        self.position += len(piece)
        return piece

    def _next(self) -> bytes:
        """What is made of it meanwhile may take as long as it takes."""
        began = time.monotonic()
        try:
            piece = next(self._pieces, b"")
        except httpx.HTTPError as error:
            raise SourceUnreachable(f"{self._lost(error)} Run the same command again.") from error
        self._waited += time.monotonic() - began
        self._received += len(piece)
        if self._waited > DEADLINE + self._received / SLOWEST:
            raise SourceUnreachable(f"The source answers too slowly; {AGAIN}")
        return piece


def bearer(api_key: str) -> dict[str, str]:
    """The header that tells the key; none without one."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value not in (None, "")}


def _wait(response: httpx.Response) -> float | None:
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else None
