"""The types that the bodies of this dialect are made of. Pure."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from tenants.ulids import new_ulid

LONGEST_ID, LONGEST_NAME = 255, 64
MOST_LABELS = 100  # topics or entities of a record
MOST_SECONDS, MOST_TOKENS, MOST_DAYS = 2**31 - 1, 2**62, 36_500
MOST_COUNTED = 2**31 - 1


def _in_utc(moment: datetime) -> datetime:
    """A moment without a time zone is one in UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the moment lies outside of what can be told in UTC") from error


def _new_if_null(value: Any) -> Any:
    return new_ulid() if value is None else value


Moment = Annotated[datetime, AfterValidator(_in_utc)]
Id = Annotated[str, StringConstraints(max_length=LONGEST_ID)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
RecordId = Annotated[
    str,
    # One that ends in a slash could never be asked for: in a path it cannot be told from the route's.
    StringConstraints(min_length=1, max_length=LONGEST_ID, pattern=r"[^/]$"),
    BeforeValidator(_new_if_null),
    Field(default_factory=new_ulid, description="By default, or for null, the server makes a ULID."),
]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Labels = Annotated[list[Id], Field(max_length=MOST_LABELS)]
Mark = Literal["t", "f"]
MemoryType = Literal["episodic", "semantic", "message"]
Share = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(ge=0, le=MOST_DAYS)]
Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
