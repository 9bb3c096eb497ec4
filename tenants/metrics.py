"""Instruments of jobs; docs/observability.md describes each."""

from typing import Literal

from prometheus_client import Counter, Histogram

JOBS_FINISHED = Counter(
    "jobs_finished",
    "Attempts at jobs: done, retried (put off after a failure), dead (given up).",
    ["kind", "outcome"],
)
JOB_SECONDS = Histogram(
    "job_seconds",
    "Time from the start of an attempt to its commit; quick jobs that were done together count once.",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)


def count_jobs(
    *, kind: str, outcome: Literal["done", "retried", "dead"], seconds: float, number: int = 1
) -> None:
    """Counts `number` jobs of a kind that one attempt of `seconds` brought to the same outcome."""
    JOBS_FINISHED.labels(kind, outcome).inc(number)
    JOB_SECONDS.labels(kind).observe(seconds)
