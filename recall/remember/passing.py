"""Turns in which nothing is worth remembering. Most are small talk: a decision for each would fill the table,
so they are told and counted only."""

import logging

from ledger.metrics import WRITES_SKIPPED

KIND, REASON = "turn", "not_memorable"
log = logging.getLogger(__name__)


def count_passed() -> None:
    """One more of them."""
    WRITES_SKIPPED.labels(KIND, REASON).inc()
    log.debug("memory_write_skipped_reason=%s kind=%s", REASON, KIND)
