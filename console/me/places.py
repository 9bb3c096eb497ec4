"""Where a list goes on, as it stands in an address."""

from datetime import datetime
from uuid import UUID

from recall.subjects.memories import Place, Remembered, checked_kind
from tenants.errors import Invalid

REFUSAL = "This is no place in the list."


def memory_place(text: str) -> Place | None:
    """`<moment>,<kind>,<id>`; None at the begin. Raises Invalid."""
    if not text:
        return None
    moment, kind, memory_id = _parts(text, 3)
    return Place(_moment(moment), checked_kind(kind), memory_id)


def place_of(memory: Remembered) -> str:
    """The place after that memory."""
    return f"{memory.created_at.isoformat()},{memory.kind},{memory.id}"


def use_place(text: str) -> tuple[datetime, UUID] | None:
    """`<moment>,<id>`, likewise."""
    if not text:
        return None
    moment, use_id = _parts(text, 2)
    try:
        return _moment(moment), UUID(use_id)
    except ValueError:
        raise Invalid(REFUSAL, "before") from None


def _parts(text: str, number: int) -> list[str]:
    parts = text.split(",")
    if len(parts) != number:
        raise Invalid(REFUSAL, "before")
    return parts


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(REFUSAL, "before") from None
    if moment.tzinfo is None:
        raise Invalid(REFUSAL, "before")
    return moment
