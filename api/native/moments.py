"""Moments in a query string."""

from datetime import UTC, datetime

from tenants.errors import Invalid


def moment_of(text: str | None, field: str) -> datetime | None:
    """A moment, in UTC unless it says otherwise. Raises Invalid, naming the field."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid("Must be a moment such as 2026-01-31T12:00:00Z.", field) from error


def aware_moment_of(text: str | None, field: str) -> datetime | None:
    """Likewise, of one that names its time zone."""
    found = moment_of(text, field)
    if text is not None and datetime.fromisoformat(text).tzinfo is None:
        raise Invalid("Must name its time zone, such as Z.", field)
    return found
