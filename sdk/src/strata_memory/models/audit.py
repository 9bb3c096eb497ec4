# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `audit` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class AuditEntry(Answer):
    """Part of `AuditPage`."""

    id: str
    at: datetime
    actor: str
    action: str
    target: str
    details: dict[str, Any]


class AuditPage(Answer):
    """A page of `AuditEntry`; with `next` as `cursor` comes the one behind it."""

    results: list[AuditEntry]
    next: str | None
