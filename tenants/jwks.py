"""The public keys that callers' tokens are signed with, as their issuer publishes them (RFC 7517).

One thread per process fetches them, on time and when a token names a key that is not among them; requests
only read what it has found. So a slow or dead endpoint holds up nobody whose key is known.
"""

import json
import logging
import math
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import httpx
from django.conf import settings
from jwt import PyJWK, PyJWTError

from tenants.errors import Unavailable

logger = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024
SILENCE_SECONDS = 2.0  # in which nothing comes: the endpoint is down
FETCH_SECONDS = 5.0  # for the whole of it: whoever drips bytes is down, too
RETRY_SECONDS = 10.0  # after a fetch that failed
UNKNOWN_KEY_SECONDS = 10.0  # between two fetches that unknown keys cause: nobody hammers through us
WAIT_SECONDS = 2.0  # since a fetch began, that a request with an unknown key waits for it
MOST_WAITING = 1  # requests: anybody can name a key, and a process has a handful of threads

# What a key must be to verify an algorithm: its type, and its curve if it has one. Symmetric ones are missing
# on purpose: a published key is no secret.
SUITABLE: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}

Keys = Mapping[tuple[str, str], PyJWK]


class BadAnswer(Exception):
    """The endpoint answered something that is no set of keys."""


@dataclass(frozen=True, slots=True)
class Published:
    """The keys by id and algorithm, and when, on the monotonic clock, they were asked for."""

    keys: Keys
    at: float


class KeySet:
    """The keys at one address. Thread-safe."""

    def __init__(
        self, *, url: str, algorithms: Iterable[str], refresh_seconds: float, max_age_seconds: float
    ) -> None:
        self._url, self._algorithms = url, tuple(algorithms)
        self._refresh, self._max_age = refresh_seconds, max_age_seconds
        self._published = Published({}, -math.inf)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._begun = self._ended = 0  # fetches
        self._waiting = 0  # requests
        self._began_at = self._asked_at = self._due = -math.inf
        self._stopped = False

    def find(self, *, key_id: str, algorithm: str) -> PyJWK | None:
        """The key, or None when it is not published, or not known and the endpoint is away.

        A key that is known is answered at once; one that is not has the keys fetched and waits for that, at
        most `WAIT_SECONDS` and not again before `UNKNOWN_KEY_SECONDS` have passed. Raises Unavailable when
        another request waits for the fetch that would tell.
        """
        self._keep_fetching()
        key = self._known(key_id, algorithm)
        if key is None:
            self._await_fetch()
            key = self._known(key_id, algorithm)
        return key

    def stop(self) -> None:
        """Ends the fetching; what is known stays so until it is too old."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _known(self, key_id: str, algorithm: str) -> PyJWK | None:
        published = self._published
        if time.monotonic() - published.at > self._max_age:
            return None
        return published.keys.get((key_id, algorithm))

    def begin(self) -> None:
        """Fetches from now on: a process that is asked first during an outage must know the keys by then."""
        self._keep_fetching()

    def _keep_fetching(self) -> None:
        """Starts the thread, if it does not run: also in a process that was forked from one that had it."""
        if self._thread is not None and self._thread.is_alive():
            return
        with self._changed:
            if not self._stopped and (self._thread is None or not self._thread.is_alive()):
                self._ended = self._begun
                self._thread = threading.Thread(target=self._run, name="jwks", daemon=True)
                self._thread.start()

    def _await_fetch(self) -> None:
        with self._changed:
            now = time.monotonic()
            is_under_way, is_due = self._begun > self._ended, self._due <= now
            if not is_under_way and not is_due:
                if now - self._asked_at < UNKNOWN_KEY_SECONDS:
                    return
                self._asked_at = self._due = now
                self._changed.notify_all()
            wanted = self._begun if is_under_way else self._begun + 1
            left = (self._began_at if is_under_way else now) + WAIT_SECONDS - now
            if left <= 0:
                return
            if self._waiting >= MOST_WAITING:
                raise Unavailable("The issuer's keys are being fetched. Try again.")
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: self._ended >= wanted, timeout=left)
            finally:
                self._waiting -= 1

    def _run(self) -> None:
        while self._wait_until_due():
            published = self._fetch(self._began_at)
            with self._changed:
                if published is not None:
                    self._published = published
                pause = self._refresh if published is not None else min(self._refresh, RETRY_SECONDS)
                self._ended, self._due = self._begun, self._began_at + pause
                self._changed.notify_all()

    def _wait_until_due(self) -> bool:
        """Whether there is to be another fetch, which begins now."""
        with self._changed:
            while not self._stopped and (left := self._due - time.monotonic()) > 0:
                self._changed.wait(left)
            if not self._stopped:
                self._begun, self._began_at = self._begun + 1, time.monotonic()
            return not self._stopped

    def _fetch(self, at: float) -> Published | None:
        try:
            return Published(parse_keys(read_document(self._url), self._algorithms), at)
        except (httpx.HTTPError, BadAnswer, OSError) as error:
            reason = str(error) if isinstance(error, BadAnswer) else type(error).__name__
            logger.warning("jwks_not_fetched", extra={"fields": {"reason": reason}})
        except Exception:  # the thread's outermost frame: without it the keys would never be fetched again
            logger.exception("jwks_not_fetched")
        return None


def key_set() -> KeySet:
    """This process's keys of `JWT_JWKS_URL`."""
    return _key_set(
        settings.JWT_JWKS_URL,
        tuple(settings.JWT_ALGORITHMS),
        settings.JWKS_REFRESH_SECONDS,
        settings.JWKS_MAX_AGE_SECONDS,
    )


@cache
def _key_set(url: str, algorithms: tuple[str, ...], refresh: int, max_age: int) -> KeySet:
    return KeySet(url=url, algorithms=algorithms, refresh_seconds=refresh, max_age_seconds=max_age)


def read_document(url: str) -> object:
    """The JSON at the address. Raises BadAnswer or httpx.HTTPError.

    Redirects are not followed: keys come from where the operator said, or not at all.
    """
    deadline, body = time.monotonic() + FETCH_SECONDS, bytearray()
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    with httpx.stream("GET", url, headers=headers, timeout=SILENCE_SECONDS, follow_redirects=False) as answer:
        if answer.status_code != 200:
            raise BadAnswer(f"status {answer.status_code}")
        for piece in answer.iter_raw():
            body += piece
            if len(body) > MAX_BYTES:
                raise BadAnswer(f"more than {MAX_BYTES} bytes")
            if time.monotonic() > deadline:
                raise BadAnswer(f"not complete after {FETCH_SECONDS:.0f} seconds")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadAnswer("not JSON") from None


def parse_keys(document: object, algorithms: Iterable[str]) -> Keys:
    """The usable keys of a JWK Set for each of the algorithms. Raises BadAnswer when it is none.

    Keys without an id, for encryption, private, or of a type that no algorithm takes are passed over, as the
    standard asks; an empty set is one, and withdraws every key.
    """
    found = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise BadAnswer("not a set of keys")
    keys: dict[tuple[str, str], PyJWK] = {}
    for one in found:
        key_id = one.get("kid") if isinstance(one, dict) and _is_to_verify(one) else None
        if not isinstance(key_id, str) or not key_id:
            continue
        for algorithm in algorithms:
            if (key := _key(one, algorithm)) is not None:
                keys.setdefault((key_id, algorithm), key)
    return keys


def _is_to_verify(jwk: Mapping[str, object]) -> bool:
    operations = jwk.get("key_ops", ["verify"])
    return (
        jwk.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and "d" not in jwk
    )


def _key(jwk: dict[str, object], algorithm: str) -> PyJWK | None:
    """The key for the algorithm; None if it is for another, or broken."""
    kind = (jwk.get("kty"), jwk.get("crv") if jwk.get("kty") != "RSA" else None)
    if kind != SUITABLE.get(algorithm) or jwk.get("alg", algorithm) != algorithm:
        return None
    try:
        return PyJWK(jwk, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
