"""What an assembly is asked, what could go into it, and what it answers. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from recall.stages import Stage
from working.types import SessionAddress, Turn
from working.window import estimate_tokens

Part = Literal["session", "entities", "episodes", "summary", "window", "procedures"]
PARTS: tuple[Part, ...] = get_args(Part)
TOLD_PARTS: frozenset[Part] = frozenset({"entities", "episodes", "procedures"})  # entered in the ledger
Kind = Literal["system", "procedure", "session", "entity", "episode", "summary", "turn", "query"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Why an item is there: it came with the request, was found, or is what it is; or why it is left out.
Why = Literal[
    "given", "agent", "named", "scratchpad", "metadata", "current", "recalled", "recent", "summary", "window",
    "budget", "duplicate", "told", "size", "unpaired",
]  # fmt: skip
WHYS: tuple[Why, ...] = get_args(Why)
# `told`: left out, since the session has been told the same; `told_again`: told before, and now once more;
# `none`: not entered, because it is left out or of a kind that never is.
LedgerState = Literal["new", "told", "told_again", "none"]
LEDGER_STATES: tuple[LedgerState, ...] = get_args(LedgerState)


@dataclass(frozen=True, slots=True)
class AssembleQuery:
    """What is asked: the session, what its user says now, and what should go before it."""

    address: SessionAddress
    text: str
    agent_id: str | None = None
    system: str | None = None
    token_budget: int | None = None
    dedupe: bool = True
    include: frozenset[Part] = frozenset(PARTS)
    environment: str | None = None
    procedures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that could be told: `text` as it stands in the prompt; `key` and `state` are its mark in the
    ledger, empty for what is not entered."""

    kind: Kind
    id: str
    text: str
    why: Why
    score: float | None = None
    key: str = ""
    state: str = ""
    plain: str = ""  # of an episode and the summary: what is compared with others
    covers: tuple[int, int] | None = None  # of what tells of this session: its turns, the first and the last


@dataclass(frozen=True, slots=True)
class Item:
    """The account of one thing: whether it is in the messages, and why; or of `count` things, none of which
    was looked at."""

    kind: Kind
    id: str | None
    score: float | None
    tokens: int
    why: Why
    ledger: LedgerState
    included: bool
    count: int = 1


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages and the account; `tokens` is an estimate of all messages."""

    messages: tuple[dict[str, Any], ...]
    items: tuple[Item, ...]
    tokens: int
    stages: tuple[Stage, ...]
    query_used: str


def message_tokens(role: str, content: str) -> int:
    """Tokens of a message, estimated as those of a turn."""
    return estimate_tokens(Turn(0, role, content))


def window_tokens(turns: Sequence[Turn]) -> int:
    """Tokens of these turns."""
    return sum(map(estimate_tokens, turns))
