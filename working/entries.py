"""A turn in its forms: an event of the log, a message, an entry of the Redis list."""

import json

from working.models import Event
from working.types import NewEvent, Turn


def turn_of(event: Event | NewEvent, seq: int) -> Turn:
    """An event as a turn."""
    return Turn(seq=seq, role=event.role, content=event.content, **(event.tool or {}))


def entry_of(seq: int, event: NewEvent | Turn, *, unlogged: bool = False) -> str:
    """A turn as the Redis list holds it: its number first, where the scripts look for it, then the chat
    message; with the client's id if it is in no log, which would know it."""
    turn = event if isinstance(event, Turn) else turn_of(event, seq)
    entry = {"seq": seq, **turn.message()}
    if unlogged and event.external_id is not None:
        entry["external_id"] = event.external_id
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def parse_entry(entry: str) -> Turn:
    """The turn behind an entry of the Redis list."""
    return Turn(**json.loads(entry))
