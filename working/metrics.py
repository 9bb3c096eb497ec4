"""Instruments of working memory; docs/observability.md describes each."""

from prometheus_client import Counter

EVICTIONS = Counter(
    "redis_session_evictions", "Sessions under way that Redis no longer held when they were used again."
)
