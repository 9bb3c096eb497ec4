# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `policy` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class Policy(Answer):
    """What `policy.get` answers."""

    agent_id: str | None
    version: int
    document: dict[str, Any]
    """What this level decides for itself."""
    effective: dict[str, Any]
    """What holds."""
    defaults: dict[str, Any]
    """What would hold without this level."""


class PolicyDifference(Answer):
    """Part of `PolicyDiff`."""

    field: str
    before: Any
    after: Any


class PolicyVersion(Answer):
    """Part of `PolicyVersionPage`."""

    version: int
    document: dict[str, Any]
    author: str
    note: str
    created_at: datetime


class PolicyDiff(Answer):
    """What `policy.diff` answers."""

    from_version: int
    to_version: int
    changes: list[PolicyDifference]


class PolicyVersionPage(Answer):
    """A page of `PolicyVersion`; with `next` as `cursor` comes the one behind it."""

    results: list[PolicyVersion]
    next: str | None
