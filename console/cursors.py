"""Where a list goes on: what the link "More" says, checked when it comes back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, QueryDict

from tenants.errors import Invalid

SIZE = 50  # rows of a page
NO_PLACE = "This is no place in the list."


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a page, and the query string of the one after it; empty on the last."""

    shown: Sequence[Any]
    more: str = ""


def position_of(request: HttpRequest) -> tuple[datetime, UUID] | None:
    """After which row the page begins. Raises Invalid for what no link of ours says."""
    raw = place_in(request.GET)
    if not raw:
        return None
    moment, _, name = raw.partition("_")
    try:
        position = datetime.fromisoformat(moment), UUID(name)
    except ValueError as error:
        raise Invalid(NO_PLACE, "after") from error
    if position[0].tzinfo is None:
        raise Invalid(NO_PLACE, "after")
    return position


def place_in(given: QueryDict) -> str:
    """What stands there as the place. Raises Invalid for one under the name that other lists give it: to show
    the beginning instead would be another page than was asked for."""
    if given.get("before"):
        raise Invalid(NO_PLACE, "before")
    return str(given.get("after", ""))


def number_in(raw: str, *, field: str) -> int | None:
    """The number, of nine digits at most, after which a list goes on; None for none. Raises Invalid for what
    no link of ours says."""
    if not raw:
        return None
    if not raw.isascii() or not raw.isdecimal() or len(raw) > 9:
        raise Invalid(NO_PLACE, field)
    return int(raw)


def rows_of(
    request: HttpRequest, found: Sequence[Any], *, moment: Callable[[Any], datetime], size: int = SIZE
) -> Rows:
    """The page of `found`, of which one more than `size` was asked for, sorted by `moment`."""
    if len(found) <= size:
        return Rows(found)
    last = found[size - 1]
    query = request.GET.copy()
    query["after"] = f"{moment(last).isoformat()}_{last.id}"
    return Rows(found[:size], query.urlencode())
