# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `evaluation` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class Arm(Answer):
    """Part of `Arms`."""

    sessions: int
    """That were told something that it recalled."""
    injections: int
    verdicts: int
    helpful: int
    helpful_rate: float | None
    ci95: list[float] | None
    """95 %."""


class Difference(Answer):
    """Part of `Trial`."""

    helpful_rate: float
    ci95: list[float] | None
    """95 %."""


class SavedQuery(Answer):
    """What `evaluation.create` answers."""

    id: str
    text: str
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    relevant: list[str]
    source: str
    created_at: datetime


class Arms(Answer):
    """Part of `Trial`."""

    control: Arm
    """By `recall`."""
    treatment: Arm
    """By `trial`."""


class SavedQueryPage(Answer):
    """A page of `SavedQuery`; with `next` as `cursor` comes the one behind it."""

    results: list[SavedQuery]
    next: str | None


class Trial(Answer):
    """What `evaluation.trial` answers."""

    share: float
    """Of the sessions; 0: there is no trial."""
    setting: dict[str, Any]
    """What the second setting says of its own."""
    version: int
    """Of the policy, which began it."""
    since: datetime | None
    variants: Arms
    difference: Difference | None
    """Of the treatment to the control."""
