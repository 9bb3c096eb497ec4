"""One model at one address: requests under a deadline, asked again when that helps, counted, or refused at
once while the server is being left alone.

The official client's own retries are switched off: it sleeps as long as `Retry-After` says, up to two
minutes, whatever time the caller has.
"""

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx2
import openai

from providers.breaker import Breaker, BreakerOpen
from providers.metering import Usage, report
from providers.metrics import timed_call
from providers.openai.retrying import backoff, read_retry_after, worth_asking_again
from providers.openai.transport import build_http, until

log = logging.getLogger(__name__)
R = TypeVar("R")
PROVIDER = "openai"
REFUSALS = frozenset({400, 413, 422})  # of this request; the server is well


class Unreachable(Exception):
    """No usable answer in time. `retry_after`: seconds after which there may be one, where that is known."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Rejected(Exception):
    """The server does not accept this request. `detail` is its own text, which may quote the request."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"The provider rejected the request with {status}.")
        self.status, self.detail = status, detail


class Unusable(Exception):
    """The answer is not what its kind should look like; the same request would bring the same again."""


@dataclass(frozen=True, slots=True)
class _Fault:
    reason: str
    again: bool
    retry_after: float | None = None
    request_id: str = ""


class Endpoint:
    """Safe to share between threads, not with a forked child."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        connect_seconds: float,
        retries: int,
        breaker: Breaker | None = None,
    ) -> None:
        """`api_key` may be empty for servers that ask for none."""
        self.model = model
        self._connect_seconds, self._retries = connect_seconds, retries
        self._breaker = breaker or Breaker()
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            max_retries=0,
            http_client=build_http(base_url),
        )
        for name in ("openai", "httpx2", "httpcore2"):
            # Below that they write a line per request, and at DEBUG the headers of answers.
            logging.getLogger(name).setLevel(logging.WARNING)

    @property
    def is_well(self) -> bool:
        """Whether the server is not being left alone."""
        return self._breaker.state == "closed"

    def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        purpose: str,
        deadline: float,
        read: Callable[[dict[str, Any]], R],
    ) -> R:
        """What `read` makes of the JSON object that the server answers; it raises Unusable when it cannot.

        `deadline` is of `time.monotonic()`. Raises Unreachable, at the deadline at the latest, and Rejected.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                self._breaker.admit()
            except BreakerOpen as refusal:
                raise Unreachable(str(refusal), refusal.retry_after) from None
            outcome = self._attempt(path, body, purpose, deadline, read)
            if not isinstance(outcome, _Fault):
                return outcome
            log.warning(
                "provider_failed model=%s purpose=%s attempt=%d request_id=%s: %s",
                self.model, purpose, attempt, outcome.request_id, outcome.reason,
            )  # fmt: skip
            pause = max(outcome.retry_after or 0.0, backoff(attempt, random.random()))  # noqa: S311
            too_late = time.monotonic() + pause >= deadline
            if not outcome.again or attempt > self._retries or too_late:
                raise Unreachable(outcome.reason, outcome.retry_after)
            time.sleep(pause)

    def _attempt(
        self,
        path: str,
        body: Mapping[str, Any],
        purpose: str,
        deadline: float,
        read: Callable[[dict[str, Any]], R],
    ) -> R | _Fault:
        """One request, and what it tells about the server."""
        try:
            outcome = self._send(path, body, purpose, deadline, read)
        except Rejected:
            self._breaker.succeeded()
            raise
        except BaseException:
            self._breaker.abandoned()
            raise
        if isinstance(outcome, _Fault):
            self._breaker.failed(outcome.retry_after)
        else:
            self._breaker.succeeded()
        return outcome

    def _send(
        self,
        path: str,
        body: Mapping[str, Any],
        purpose: str,
        deadline: float,
        read: Callable[[dict[str, Any]], R],
    ) -> R | _Fault:
        usage: object = None
        failed = True
        try:
            with timed_call(provider=PROVIDER, model=self.model, purpose=purpose):
                answer = self._post(path, body, deadline)
            usage = answer.get("usage")
            result = read(answer)
            failed = False
        except openai.APIStatusError as error:
            if error.status_code in REFUSALS:
                raise Rejected(error.status_code, str(error.message)) from None
            return _status_fault(error)
        except openai.APIError as error:
            return _Fault(f"{type(error).__name__} on the way to the provider.", again=True)
        except Unusable as error:
            return _Fault(str(error), again=False)
        except (ValueError, RecursionError):
            return _Fault("The provider answered with something that is no JSON object.", again=True)
        finally:
            self._count(purpose, failed=failed, usage=usage)
        return result

    def _post(self, path: str, body: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """Raises the client's errors, ValueError when the answer is no JSON object."""
        left = max(deadline - time.monotonic(), 0.001)
        timeout = httpx2.Timeout(left, connect=min(self._connect_seconds, left))
        with until(deadline):
            response = self._client.post(
                path, cast_to=httpx2.Response, body=dict(body), options={"timeout": timeout}
            )
        answer = response.json()
        if not isinstance(answer, dict):
            raise ValueError("no object")
        return answer

    def _count(self, purpose: str, *, failed: bool, usage: object = None) -> None:
        tokens = usage if isinstance(usage, dict) else {}
        report(
            Usage(
                PROVIDER,
                self.model,
                purpose,
                calls=1,
                failures=int(failed),
                input_tokens=_count_of(tokens.get("prompt_tokens")),
                output_tokens=_count_of(tokens.get("completion_tokens")),
            )
        )


def _status_fault(error: openai.APIStatusError) -> _Fault:
    again = worth_asking_again(error.status_code, error.code)
    wait = read_retry_after(error.response.headers, datetime.now(UTC))
    return _Fault(f"The provider answered {error.status_code}.", again, wait, error.request_id or "")


def _count_of(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
