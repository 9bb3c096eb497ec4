"""Where a list continues: opaque to the client, checked when it comes back."""

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from rest_framework.request import Request

from tenants.errors import Invalid

T = TypeVar("T")


def position_of(request: Request) -> tuple[datetime, UUID] | None:
    """The position in `cursor`, or None. Raises Invalid when it is not one of ours."""
    return _position(request, UUID)


def numbered_position_of(request: Request) -> tuple[datetime, int] | None:
    """Likewise, in a list of what has a number for its id."""
    return _position(request, _number)


def _position(request: Request, identity: Callable[[str], T]) -> tuple[datetime, T] | None:
    raw = request.query_params.get("cursor")
    if not raw:
        return None
    try:
        moment, _, name = base64.urlsafe_b64decode(raw.encode()).decode().partition("|")
        position = datetime.fromisoformat(moment), identity(name)
    except ValueError as error:
        raise Invalid("Not a cursor of this list.", "cursor") from error
    if position[0].tzinfo is None:
        raise Invalid("Not a cursor of this list.", "cursor")
    return position


def _number(text: str) -> int:
    """Nineteen digits hold every number; Python refuses to read thousands."""
    if len(text) > 19 or not 0 <= int(text) < 2**63:
        raise ValueError(text)
    return int(text)


def page(
    rows: Sequence[Any], limit: int, *, moment: Callable[[Any], datetime], show: Callable[[Any], Any]
) -> dict[str, Any]:
    """A page of `rows`, of which one more than `limit` was asked for, sorted by `moment`."""
    shown = rows[:limit]
    cursor = None
    if len(rows) > limit:
        last = shown[-1]
        cursor = base64.urlsafe_b64encode(f"{moment(last).isoformat()}|{last.id}".encode()).decode()
    return {"results": [show(row) for row in shown], "next": cursor}
