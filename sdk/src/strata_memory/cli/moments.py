"""Moments as people read them. Pure."""

from datetime import UTC, datetime


def moment(text: str | None) -> str:
    """An ISO moment as `2026-03-01 09:30` in UTC; the text itself if it is none."""
    read = parsed(text)
    return (text or "") if read is None else read.strftime("%Y-%m-%d %H:%M")


def parsed(text: str | None) -> datetime | None:
    """The moment in UTC; None for what is none."""
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)


def span(seconds: float) -> str:
    """A length of time in its largest unit: `90 s`, `5 h`, `12 days`."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
