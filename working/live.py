"""Live events: what was committed in a tenant since a position, within the walls of a key."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.scope import scope
from working import live_queries
from working.live_types import LiveEvent, Position, Wanted

# Twenty digits hold every id of a transaction, nineteen every number of an event.
CURSOR = re.compile(r"(?P<recorded_in>\d{1,20})(?:-(?P<session>[0-9a-f]{32})-(?P<seq>\d{1,19}))?", re.ASCII)
PAGE = 100  # events
PAGE_BYTES = 1 << 20  # of them, and then the rest of the last one
EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Page:
    """Some events in order, where to go on behind them, and whether there are more already."""

    events: list[LiveEvent]
    position: Position
    more: bool


def wanted_by(
    caller: Caller,
    *,
    session_id: str | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    event_types: Collection[str] = (),
) -> Wanted:
    """What the caller names, with what its key is bound to filled in. Raises Forbidden for another's."""
    return Wanted(
        session_id=session_id or "",
        user_id=caller.confine_user(user_id),
        agent_id=caller.confine_agent(agent_id),
        project=caller.confine_project(None),
        event_types=frozenset(event_types),
    )


def read_on(*, tenant_id: UUID, wanted: Wanted, after: Position | None) -> Page:
    """What came behind `after`, at most `PAGE` events of about `PAGE_BYTES`; None: nothing, only where the
    log stands now.

    Raises Invalid for a position that lies in the future: it is another database's.
    """
    with scope(tenant_id):
        settled = live_queries.settled()
        if after is None:
            return Page([], Position(settled), more=False)
        if after.recorded_in > settled:
            raise Invalid("This cursor is not of this database: begin anew.", "after")
        if after == Position(settled):
            return Page([], after, more=False)
        found, more = live_queries.committed(
            tenant_id=tenant_id, wanted=wanted, after=after, before=settled, limit=PAGE, enough=PAGE_BYTES
        )
    return Page(found, found[-1].position if more else Position(settled), more)


def cursor_of(position: Position) -> str:
    """The position as clients get it."""
    number = str(position.recorded_in)
    return f"{number}-{position.session.hex}-{position.seq}" if position.seq else number


def position_at(cursor: str) -> Position:
    """The position that a client sent; 0 is the beginning of the log. Raises Invalid when it is not one."""
    parts = CURSOR.fullmatch(cursor)
    if parts is None or int(parts["recorded_in"]) >= 2**64:
        raise Invalid("Not a cursor of this stream.", "after")
    if parts["session"] is None:
        return Position(int(parts["recorded_in"]))
    if not 0 < int(parts["seq"]) < 2**63:
        raise Invalid("Not a cursor of this stream.", "after")
    return Position(int(parts["recorded_in"]), UUID(parts["session"]), int(parts["seq"]))
