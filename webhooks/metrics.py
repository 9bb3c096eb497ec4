"""Instruments of webhooks; docs/observability.md describes each."""

from prometheus_client import Counter

DELIVERIES = Counter(
    "webhook_deliveries",
    "Attempts at telling a webhook: delivered, retried (failed, put off), failed (given up).",
    ["outcome"],
)
DISABLED = Counter("webhooks_disabled", "Webhooks that were switched off because they failed.")
