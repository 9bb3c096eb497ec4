"""When to ask again. Pure."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0  # seconds
AGAIN = frozenset({408, 409, 425, 429})  # and every 5xx


def backoff(attempt: int, chance: float) -> float:
    """Seconds to pause after the attempt of that number, from 1: twice as long each time.

    `chance`, from 0 to 1, takes up to half of it away, so that callers who failed together do not return
    together.
    """
    longest = min(FIRST_PAUSE * 2.0 ** min(attempt - 1, 30), LONGEST_PAUSE)
    return longest * (1 - chance / 2)


def read_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the server asks to wait (RFC 9110, 10.2.3, or milliseconds); None if it does not say."""
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers[name]) / divisor
        except (KeyError, ValueError):
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - now).total_seconds(), 0.0)


def worth_asking_again(status: int, code: str | None) -> bool:
    """Whether the same request may succeed in a moment. A used-up quota comes with 429, too, and stays."""
    return (status in AGAIN or status >= 500) and code != "insufficient_quota"
