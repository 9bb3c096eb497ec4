"""Values that pass between remembering and its callers."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from recall.remember.extraction import Extractor
from tenants.caller import Caller

Kind = Literal["entity", "episode"]


@dataclass(frozen=True, slots=True)
class Source:
    """Whose words they are and where they were said; `turn` is its number, if the session has the turn.
    `exists`: there is such a session, so that it may have been told something."""

    caller: Caller
    user_id: str
    session_id: str
    namespace: str = ""
    agent_id: str = ""
    project: str = ""
    turn: int | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Written:
    """What became memory; `key` is a slot's."""

    kind: Kind
    id: UUID
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """What did not; its text is masked."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a turn."""

    written: tuple[Written, ...]
    skipped: tuple[Skipped, ...]
    extractor: Extractor
