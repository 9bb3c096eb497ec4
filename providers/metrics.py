"""Instruments of embeddings and provider calls; docs/observability.md describes each."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Histogram

EMBEDDING_SECONDS = Histogram(
    "embedding_seconds",
    "Time to embed the texts of one call.",
    ["provider", "model"],
    buckets=(0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
EMBEDDING_FAILURES = Counter("embedding_failures", "Calls that brought no vectors.", ["provider", "model"])
PROVIDER_CALLS = Counter(
    "provider_calls",
    "Requests sent to an outside provider, retries among them.",
    ["provider", "model", "purpose", "outcome"],
)
PROVIDER_SECONDS = Histogram(
    "provider_call_seconds",
    "Time until an outside provider answered one request, or did not.",
    ["provider", "model", "purpose"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60),
)
PROVIDER_TOKENS = Counter(
    "provider_tokens", "Tokens, as the provider counts them.", ["provider", "model", "purpose", "direction"]
)


@contextmanager
def timed_embedding(*, provider: str, model: str) -> Iterator[None]:
    """Counts one call for vectors, as a failure if the block raises."""
    began = time.perf_counter()
    try:
        yield
    except Exception:  # counted, and raised again
        EMBEDDING_FAILURES.labels(provider, model).inc()
        raise
    EMBEDDING_SECONDS.labels(provider, model).observe(time.perf_counter() - began)


@contextmanager
def timed_call(*, provider: str, model: str, purpose: str) -> Iterator[None]:
    """Times one request to an outside provider, whatever becomes of it."""
    began = time.perf_counter()
    try:
        yield
    finally:
        PROVIDER_SECONDS.labels(provider, model, purpose).observe(time.perf_counter() - began)


def count_usage(
    *,
    provider: str,
    model: str,
    purpose: str,
    calls: int = 0,
    failures: int = 0,
    input_tokens: int = 0,
    output_tokens: int = 0,
) -> None:
    """Counts requests, those of them that brought nothing usable, and tokens."""
    amounts = {"ok": calls - failures, "failed": failures}
    for outcome, amount in amounts.items():
        if amount > 0:  # a failure that is found out later comes without a call of its own
            PROVIDER_CALLS.labels(provider, model, purpose, outcome).inc(amount)
    for direction, amount in {"input": input_tokens, "output": output_tokens}.items():
        if amount > 0:
            PROVIDER_TOKENS.labels(provider, model, purpose, direction).inc(amount)
