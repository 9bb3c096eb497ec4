# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `injections` answers."""

from datetime import datetime

from ..answer import Answer


class Injection(Answer):
    """Part of `InjectionPage`."""

    id: str
    item_key: str
    kind: str
    """What stands before the colon of the key."""
    value: str
    session_id: str
    namespace: str
    user_id: str | None
    rank: int | None
    """Its place among what was found; 1: best."""
    score: float | None
    """By which it was ranked."""
    why: str | None
    """How it came to be told."""
    marked_at: datetime
    released_at: datetime | None
    """Since when the session may be told it again; null: it counts."""


class InjectionPage(Answer):
    """A page of `Injection`; with `next` as `cursor` comes the one behind it."""

    results: list[Injection]
    next: str | None
