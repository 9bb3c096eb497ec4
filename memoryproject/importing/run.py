"""One import on its way: whose it is, what it may do, and what it has told of already."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import DataError, OperationalError
from psycopg.errors import ProgramLimitExceeded

from memoryproject.importing.report import Left, Report
from memoryproject.importing.rows import Kind
from memoryproject.importing.screening import LEFT_OUT, Screened
from memoryproject.importing.seen import Seen
from tenants.caller import Caller
from tenants.errors import DomainError, Restricted, Unavailable
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import Erased, Standings, read_standings

RESTRICTED, ERASED = "the person is restricted", "it is from before the person's erasure, or has no date"


@dataclass(frozen=True, slots=True)
class Run:
    """What every writer is given. `user_id`: whose is what names nobody; what is others' is passed by.
    `agent_id`: of what names none."""

    caller: Caller
    source: str
    report: Report
    seen: Seen
    clock: Callable[[], datetime]
    user_id: str = ""
    agent_id: str = ""
    keeps_secrets: bool = False
    is_dry: bool = False
    policies: dict[str, Policy] = field(default_factory=dict)

    def as_agent(self, agent_id: str) -> Caller:
        """Who writes what is an agent's: bound to it."""
        return replace(self.caller, agent_id=agent_id) if agent_id else self.caller

    def policy(self, agent_id: str) -> Policy:
        """What holds for the agent; one and the same all the way."""
        if agent_id not in self.policies:
            self.policies[agent_id] = read_policy(tenant_id=self.caller.tenant_id, agent_id=agent_id)
        return self.policies[agent_id]

    def whose(self, user_id: str | None) -> str | None:
        """Whose the entry becomes; None: it is somebody else's than those who are to be imported."""
        return None if self.user_id and user_id and user_id != self.user_id else user_id or self.user_id

    def standings(self, user_ids: Collection[str]) -> Standings:
        """Who of the people is erased or restricted."""
        named = {one for one in user_ids if one}
        if not named:
            return Standings({}, frozenset())
        with scope(self.caller.tenant_id):
            return read_standings(tenant_id=self.caller.tenant_id, user_ids=named)

    def is_barred(
        self,
        kind: Kind,
        user_id: str,
        standings: Standings,
        *,
        since: datetime | None,
        place: str,
    ) -> bool:
        """Whether an entry of that moment may not come in because of what the person has asked for; then that
        is told. What was erased must not come back by a copy; what is from later is a new beginning."""
        reason = ""
        if user_id in standings.restricted:
            reason = RESTRICTED
        elif user_id in standings.erased and (since is None or since <= standings.erased[user_id]):
            reason = ERASED
        if reason:
            self.report.leave(kind, "refused", reason, place=place)
        return bool(reason)

    def admit(self, kind: Kind, screened: Screened, *, place: str, sample: str) -> bool:
        """Tells what was found; whether the entry may come in."""
        if screened.done:
            self.report.find(screened.kinds, screened.done, place=place, sample=sample)
        if screened.value is not None:
            return True
        reason = ", ".join(screened.kinds)
        outcome: Left = "secrets" if screened.done == LEFT_OUT else "refused"
        self.report.leave(kind, outcome, reason, place=place, sample=sample)
        return False


def refusal(error: Exception) -> str:
    """Why one entry is not taken, in few words that are the same for all of that kind."""
    if isinstance(error, Restricted):
        return RESTRICTED
    if isinstance(error, Erased):
        return ERASED
    if _is_too_long(error):
        return "its ids are too long for the database"
    if isinstance(error, DataError):
        return "the database cannot store it"
    return str(error).removesuffix(".")


def is_about_one(error: Exception) -> bool:
    """Whether the error is about an entry, and not about a store that is away."""
    if isinstance(error, Unavailable):
        return False
    return isinstance(error, DomainError | DataError) or _is_too_long(error)


def _is_too_long(error: Exception) -> bool:
    """Whether PostgreSQL cannot index it, which psycopg counts among what is wrong with the server."""
    return isinstance(error, OperationalError) and isinstance(error.__cause__, ProgramLimitExceeded)
