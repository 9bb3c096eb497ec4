"""When a call is tried again, and how long it waits before. Pure."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .errors import ConnectionFailed, RateLimited, ServerError, StrataError

FIRST_WAIT = 0.1  # seconds; doubled with each attempt
LONGEST_WAIT = 5.0
TEMPORARY = frozenset({502, 503, 504})


def is_temporary(error: StrataError) -> bool:
    """Whether the same request may succeed in a moment: no connection, 429, 502, 503, 504."""
    if isinstance(error, ServerError):
        return error.status in TEMPORARY
    return isinstance(error, ConnectionFailed | RateLimited)


def wait_before(attempt: int, error: StrataError) -> float:
    """Seconds before attempt number `attempt` (from 1): what the server asks for, else exponential, half of
    it by chance, so that clients that failed together do not come back together."""
    asked = getattr(error, "retry_after", None)
    if asked is not None:
        return max(0.0, float(asked))
    longest: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds from Retry-After, which is a number or a date (RFC 9110 §10.2.3); None if it is neither."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a time zone that is far away
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
