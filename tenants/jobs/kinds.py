"""The kinds of jobs. Each app registers its own in `ready()`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

Result = Mapping[str, Any] | None


class RetryLater(Exception):
    """What the job needs is away; try again, not before `after` seconds."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class LeaseLost(Exception):
    """Another worker has the job now: stop."""


class GiveUp(Exception):
    """The job cannot succeed, however often it is tried: straight to the dead letters."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job as its kind sees it. `since` is when its cause came in."""

    id: UUID
    tenant_id: UUID
    kind: str
    payload: Mapping[str, Any]
    user_id: str
    since: datetime
    attempts: int
    max_attempts: int
    lease: UUID


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of job does.

    `prepare` runs first, outside any transaction: providers are asked there, and long work is done there in
    steps that can be repeated. `apply` then runs in the scope that also finishes the job: its rows and the
    job's end are one commit, so its effect happens exactly once. It may be called again after a rollback, and
    shares its transaction with other jobs unless `slow`. Of the slow ones, `urgent` ones go first: they must
    not wait behind thousands of calls to a provider. Whoever asked for a job that is kept may look at it, and
    at what `apply` answered, until it is cleared. Those of one person are done `in_order`, as they were
    recorded: none begins while an older one waits, even for its next attempt, or runs. A dead letter holds up
    nobody. A restricted person's jobs wait until that is lifted, but for those that `see_restricted` memory.
    What is `for_privacy` is shown to keys that have scope `privacy` and not `read`.
    """

    name: str
    apply: Callable[[Task, Any], Result]
    prepare: Callable[[Task], Any] | None = None
    slow: bool = False
    urgent: bool = False
    in_order: bool = False
    keep: bool = False
    sees_restricted: bool = False
    for_privacy: bool = False
    attempts: int = 12


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Makes a kind known to this process; the same name again replaces it."""
    if (kind.prepare is not None or kind.urgent) and not kind.slow:
        raise ValueError(f"{kind.name}: what prepares or is urgent is slow.")  # it would hold up the quick
    if kind.in_order and not kind.slow:
        raise ValueError(f"{kind.name}: what is done in order is slow.")  # quick ones are claimed by hundreds
    _kinds[kind.name] = kind


def kept_kinds() -> list[str]:
    """The names of those whose jobs are kept."""
    return [kind.name for kind in _kinds.values() if kind.keep]


def kinds_for_privacy() -> list[str]:
    """The names of those whose jobs can be followed without scope `read`."""
    return [kind.name for kind in _kinds.values() if kind.for_privacy]


def kinds_in_order() -> list[str]:
    """The names of those whose jobs wait for the person's older ones."""
    return [kind.name for kind in _kinds.values() if kind.in_order]


def kind_of(name: str) -> Kind:
    """The kind of that name. Raises LookupError for one that no app has registered: perhaps a newer version
    of this server has sent it, so the job is tried again like any other."""
    if name not in _kinds:
        raise LookupError(f"There is no kind of job named {name}.")
    return _kinds[name]
