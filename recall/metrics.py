"""Instruments of recall; docs/observability.md describes each."""

from prometheus_client import Histogram

RETRIEVAL_SECONDS = Histogram(
    "memory_retrieval_seconds",
    "Time of one recall, the embedding of its query included; refused and failed ones are left out.",
    buckets=(0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5),
)
