"""The socket: one attempt of a call. What it raises is a `StrataError`."""

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from urllib.parse import urlsplit

import httpx

from .calls import Call, Received
from .errors import ConnectionFailed, FieldError, InvalidAnswer, Refused, StrataError, refusal_type
from .retrying import retry_after

LONGEST_ANSWER = 64 * 1024 * 1024  # bytes of JSON; downloads go to a file and may be longer
LONGEST_ERROR = 64 * 1024
SHOWN = 200  # characters of a foreign answer in a message
NOT_MODIFIED, UNAUTHENTICATED, NOT_FOUND = 304, 401, 404
NO_KEY = "The client was given no API key."
NOT_SENT = (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.ProxyError)
JSON, FILES = frozenset({"application/json"}), frozenset({"application/zip", "application/octet-stream"})


@dataclass(slots=True)
class Attempts:
    """What is known of the attempts of a call: whether one of them may have reached the server."""

    reached: bool = False

    async def trace(self, event: str, _info: object) -> None:
        """Called by the connection at each step."""
        self.reached |= event.endswith("send_request_headers.started")


class Secret:
    """A key that does not show itself."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("The API key has characters that no key has.")
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"


def secret(text: str | None) -> Secret | None:
    """The key, if there is one. Raises ValueError; the message does not repeat it."""
    return Secret(text) if text else None


class _Bearer(httpx.Auth):
    """Puts the key into the request, where httpx does not show it, and into no variable of ours."""

    def __init__(self, key: Secret) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        yield request


def checked_url(url: str) -> str:
    """The server's address without a slash at its end. Raises ValueError; the message does not repeat it."""
    if any(one in "?#@\\" or one.isspace() or not one.isprintable() for one in url):  # urlsplit drops some
        raise ValueError("The address of the server has no user, password, query, fragment or blank in it.")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:  # a port beyond 65535, half of an IPv6 address, a label of a host that is too long
        raise ValueError("The address of the server has a host or a port that there cannot be.") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("The address of the server begins with http:// or https:// and has a host.")
    return url.rstrip("/")


_Opened: TypeAlias = tuple[httpx.AsyncClient, AsyncGenerator[httpx.AsyncClient, None]]


class Transport:
    """Sends to one server, with one key or none. Each event loop has its own connections."""

    def __init__(
        self, url: str, key: Secret | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.url = checked_url(url)
        self.key = key
        self._given = transport
        self._clients: dict[asyncio.AbstractEventLoop, _Opened] = {}

    @property
    def is_given(self) -> bool:
        """Whether the caller made what sends; it may belong to the caller's loop."""
        return self._given is not None

    async def send(self, call: Call, attempts: Attempts) -> Received:
        """The answer. Raises ConnectionFailed, InvalidAnswer or a Refused."""
        async with self._answer(call, attempts) as response:
            _expect(response, JSON, empty=response.status_code == 204)
            return Received(await _body(response, LONGEST_ANSWER), response.headers.get("ETag"))

    async def download(self, call: Call, to: Path, attempts: Attempts) -> int:
        """Writes the answer to a file, which is there when it is whole, and returns its size in bytes."""
        async with self._answer(call, attempts) as response:
            _expect(response, FILES, empty=False)
            with tempfile.NamedTemporaryFile(dir=to.parent, prefix=f".{to.name}.", delete=False) as file:
                try:
                    async for part in response.aiter_bytes():
                        file.write(part)
                    file.close()
                    os.replace(file.name, to)
                except BaseException:
                    os.unlink(file.name)
                    raise
            return to.stat().st_size

    @asynccontextmanager
    async def stream(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """An answer that is read as it comes."""
        async with self._response("GET", url, Attempts(), headers=headers) as response:
            yield response

    async def close(self) -> None:
        """Closes this loop's connections."""
        opened = self._clients.get(asyncio.get_running_loop())
        if opened is not None:
            await opened[1].aclose()

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            for other in list(self._clients):
                if other.is_closed():  # without its end below; nobody can use, or close, what it had
                    self._clients.pop(other, None)
            opening = self._opened(loop)
            self._clients[loop] = await anext(opening), opening
        return self._clients[loop][0]

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[httpx.AsyncClient, None]:
        """The client of a loop, once. A loop closes its generators at its end, if it is run by `asyncio.run`,
        and those that were dropped: so the connections end with the loop or the transport."""
        forever = httpx.Timeout(None)  # a call has one deadline, which is its sender's
        client = httpx.AsyncClient(transport=self._given, timeout=forever)
        try:
            yield client
        finally:
            self._clients.pop(loop, None)
            await client.aclose()

    @asynccontextmanager
    async def _answer(self, call: Call, attempts: Attempts) -> AsyncIterator[httpx.Response]:
        url, headers = self.url + call.target, {"Accept": "*/*", **call.headers}
        async with self._response(
            call.method, url, attempts, headers=headers, content=call.content
        ) as response:
            yield response

    @asynccontextmanager
    async def _response(
        self, method: str, url: str, attempts: Attempts, *, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncIterator[httpx.Response]:
        """Redirects are not followed: the key is for this server."""
        sent: dict[str, Any] = {
            "headers": headers,
            "content": content,
            "extensions": {"trace": attempts.trace},
        }
        try:
            client = await self._client()
            auth = None if self.key is None else _Bearer(self.key)
            async with client.stream(method, url, auth=auth, **sent) as response:
                if not response.is_success:
                    raise await _refusal(response, has_key=self.key is not None)
                yield response
        except httpx.TransportError as error:
            attempts.reached |= not isinstance(error, NOT_SENT)
            sentence = str(error) or type(error).__name__
            _raise_alone(ConnectionFailed(f"{urlsplit(url).netloc}: {sentence}"))
        except (httpx.DecodingError, httpx.InvalidURL) as error:
            _raise_alone(InvalidAnswer(str(error)))
        except RuntimeError as error:
            if threading.main_thread().is_alive():
                raise
            # Where `atexit` calls, hosts are not looked up by their names any more.
            _raise_alone(ConnectionFailed(f"{urlsplit(url).netloc}: {error}"))
        except asyncio.CancelledError:
            attempts.reached |= self._given is not None  # which tells no steps
            raise


def _raise_alone(error: StrataError) -> NoReturn:
    """Without what it comes of, which holds the request, and with it the key."""
    try:
        raise error
    finally:
        error.__context__ = None


def _expect(response: httpx.Response, media_types: frozenset[str], *, empty: bool) -> None:
    found = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if not empty and found not in media_types:
        meant = " or ".join(sorted(media_types))
        raise InvalidAnswer(
            f"The answer is {found or 'of no type'}, not {meant}.", status=response.status_code
        )


async def _body(response: httpx.Response, longest: int) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > longest:
            raise InvalidAnswer(f"The answer is longer than {longest} bytes.", status=response.status_code)
        parts.append(part)
    return b"".join(parts)


async def _refusal(response: httpx.Response, *, has_key: bool) -> Refused | InvalidAnswer:
    """The error behind a status that is no success, by what a proxy or the server has written."""
    status = response.status_code
    if status < 400 and status != NOT_MODIFIED:
        return InvalidAnswer(f"The server answered {status}, a redirect; none is followed.", status=status)
    try:
        body = await _body(response, LONGEST_ERROR)
    except InvalidAnswer:
        body = b""
    told = _object(body)
    if told is None and status == NOT_FOUND:  # of a proxy, which does not know whether there is such a thing
        page = _beginning(body)
        return InvalidAnswer(f"The server answered 404, and not as Strata does: {page!r}", status=status)
    detail = _beginning(body) if told is None else str(told.get("detail", "")) or str(told)[:SHOWN]
    detail = detail or response.reason_phrase or "No reason was given."
    return refusal_type(status)(
        status,
        f"{detail} {NO_KEY}" if status == UNAUTHENTICATED and not has_key else detail,
        errors=_fields(told or {}),
        retry_after=retry_after(response.headers.get("Retry-After")),
    )


def _object(body: bytes) -> dict[str, Any] | None:
    """A problem document (RFC 9457), or whatever else is a JSON object."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _beginning(body: bytes) -> str:
    return body[: 4 * SHOWN].decode(errors="replace")[:SHOWN].strip()


def _fields(told: dict[str, Any]) -> tuple[FieldError, ...]:
    wrong = told.get("errors")
    fields = [one for one in wrong if isinstance(one, dict)] if isinstance(wrong, list) else []
    return tuple(
        FieldError(str(one.get("field", "")), str(one.get("message", "")), str(one.get("code", "")))
        for one in fields
    )
