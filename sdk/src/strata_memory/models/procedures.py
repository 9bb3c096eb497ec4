# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `procedures` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class DeployedProcedure(Answer):
    """What `procedures.get` answers."""

    name: str
    version: str
    environment: str | None
    """That runs it; null for a version that the environment does not run."""
    body: str
    checksum: str
    """SHA-256 of the body, in hex."""
    agents: list[str]
    """Whom it is injected for."""
    metadata: dict[str, Any]
    created_by: str
    created_at: datetime
    deployed_by: str | None
    deployed_at: datetime | None


class ProcedurePage(Answer):
    """A page of `DeployedProcedure`; with `next` as `cursor` comes the one behind it."""

    results: list[DeployedProcedure]
    next: str | None
