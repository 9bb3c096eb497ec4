"""What is announced, and how a webhook is described. Pure."""

from dataclasses import dataclass, field
from typing import TypedDict

LONGEST_TEXT = 10_000  # characters of a memory that are told


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory, as far as it is told of; `text` goes only to those who asked for it. Of several together, the
    `id` is empty and `ids` has theirs."""

    kind: str
    id: str
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    session_id: str = ""
    url: str = ""
    text: str = field(default="", repr=False)
    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of nobody's: those under which it is kept; one may be a person's


class Changes(TypedDict, total=False):
    """What can be said of a webhook."""

    url: str
    description: str
    events: list[str]
    kinds: list[str]
    agent_id: str
    project: str
    include_text: bool
    is_active: bool
