"""Instruments of write decisions; docs/observability.md describes each."""

from prometheus_client import Counter

WRITES_SKIPPED = Counter(
    "memory_writes_skipped", "Writes that were refused or held back, by what and why.", ["kind", "reason"]
)
