"""The part of the REST API that a replay needs, over one kept-alive connection."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx

from memoryproject.replay.endpoint import NOT_RUNNING, Endpoint
from memoryproject.replay.errors import ServerBusy, ServerFailed

Item = dict[str, Any]

ATTEMPTS = 5  # of a call that may be sent again
LONGEST_WAIT = 30.0  # seconds between attempts, whatever Retry-After says
TIMEOUT = httpx.Timeout(60.0, connect=5.0)  # the first call may load the server's embedding model
PAGE = 200
GO_ON = "run it again to go on from there."
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class MemoryClient:
    """Calls the native API. All methods raise ServerFailed; what must not be repeated blindly, ServerBusy."""

    def __init__(
        self,
        endpoint: Endpoint,
        timeout: httpx.Timeout = TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not endpoint.url.startswith(("http://", "https://")) or endpoint.url.endswith("/"):
            raise ServerFailed(f"{endpoint.url!r} is not an address like http://127.0.0.1:8002.")
        self.url = endpoint.url
        self._sleep = sleep
        self._reached = False
        try:
            self._http = httpx.Client(
                base_url=f"{endpoint.url}/api/v1",
                headers={"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {},
                timeout=timeout,
                # A proxy from the environment cannot reach this machine's own loopback address.
                trust_env=urlsplit(endpoint.url).hostname not in LOOPBACK,
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise ServerFailed(f"{endpoint.url!r} is not an address: {error}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def add_turns(self, session_id: str, user_id: str, agent_id: str, turns: list[Item]) -> Item:
        """Append turns; ids seen before are counted as duplicates, so this may be repeated."""
        body = {"user_id": user_id, "agent_id": agent_id, "turns": turns}
        return self._repeat("POST", f"/sessions/{quote(session_id, safe='')}/turns", json=body)

    def add_episode(self, episode: Item) -> Item:
        """Store one episode."""
        return self._call("POST", "/episodes", json=episode)

    def end_session(self, session_id: str, user_id: str) -> Item:
        """End a session, which stores its summary as an episode."""
        path = f"/sessions/{quote(session_id, safe='')}/end"
        return self._call("POST", path, params={"user_id": user_id}, json={})

    def episodes(self, user_id: str, agent_id: str, memory_type: str) -> Iterator[Item]:
        """Yield every episode of a user with this agent, page by page."""
        query = {"user_id": user_id, "agent_id": agent_id, "memory_type": memory_type, "limit": str(PAGE)}
        while True:
            page = self._repeat("GET", "/episodes", params=query)
            yield from page.get("results", [])
            if not page.get("next"):
                return
            query["cursor"] = page["next"]

    def recall(self, query: Item) -> Item:
        """Ask the memory."""
        return self._repeat("POST", "/recall", json=query)

    def _repeat(self, method: str, path: str, **request: Any) -> Item:
        """Call, and call again while the server is busy."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._call(method, path, **request)
            except ServerBusy as busy:
                self._sleep(busy.wait)
        try:
            return self._call(method, path, **request)
        except ServerBusy as busy:
            raise ServerFailed(f"{busy} It was asked {ATTEMPTS} times.") from busy

    def _call(self, method: str, path: str, **request: Any) -> Item:
        call = f"{method} /api/v1{path}"
        try:
            response = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise ServerFailed(self._explain(error, call)) from error
        self._reached = True
        if response.status_code == 503:
            raise ServerBusy(_refusal(response, call), _wait(response.headers.get("Retry-After", "")))
        if not response.is_success:
            raise ServerFailed(_refusal(response, call))
        return _json(response, call)

    def _explain(self, error: Exception, call: str) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout) and not self._reached:
            return NOT_RUNNING.format(where=f" at {self.url}")
        if isinstance(error, httpx.TimeoutException):
            return f"Strata at {self.url} did not answer {call} in time; {GO_ON}"
        reason = str(error) or type(error).__name__
        return f"The connection to Strata at {self.url} was lost during {call} ({reason}); {GO_ON}"


def _json(response: httpx.Response, call: str) -> Item:
    try:
        found = response.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ServerFailed(f"{call} was answered with something else than a JSON object: is this a Strata?")
    return found


def _refusal(response: httpx.Response, call: str) -> str:
    """One sentence from a problem document (RFC 9457), or from whatever came instead."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    parts = [str(problem[name]) for name in ("title", "detail") if problem.get(name)]
    parts += [str(one) for one in problem.get("errors") or []]
    reason = "; ".join(part.rstrip(".") for part in parts) or response.reason_phrase or "no reason given"
    return f"Strata answered {response.status_code} to {call}: {reason}."


def _wait(header: str) -> float:
    """Seconds from Retry-After, which is a number or a date (RFC 9110 §10.2.3); 1 when it says neither."""
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header)
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _seconds_until(date: str) -> float:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return 1.0
    return (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
