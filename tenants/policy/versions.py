"""The versions of a level's document: read, added, compared, brought back. None is changed or removed."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, DomainError, Forbidden, NotFound, PreconditionFailed
from tenants.models import PolicyVersion
from tenants.policy import reading
from tenants.policy.document import Policy
from tenants.policy.overrides import (
    Difference,
    Document,
    check,
    check_level,
    check_names,
    combine,
    diff_policies,
    merge,
)
from tenants.scope import scope

MOST_AGENTS = 1_000  # of a tenant that have a policy of their own: every process holds them all


@dataclass(frozen=True, slots=True)
class Level:
    """A tenant's policy, or that of one of its agents."""

    tenant_id: UUID
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class LevelPolicy:
    """What a level holds by its newest version (0: nothing yet), and what stands above it."""

    level: Level
    version: int
    document: Document
    above: Document

    @property
    def effective(self) -> Policy:
        """What holds."""
        return combine(self.above, self.document)

    @property
    def defaults(self) -> Policy:
        """What would hold without this level."""
        return combine(self.above)


@dataclass(frozen=True, slots=True)
class _Expected:
    """The version that a writer has read, by its word, and those that its request's precondition names; None:
    any."""

    version: int | None
    match: Collection[int] | None

    def check(self, newest: int) -> None:
        told = f"The newest version is {newest}: read it and try again."
        if self.match is not None and newest not in self.match:
            raise PreconditionFailed(told)
        if self.version not in (None, newest):
            raise Conflict(told)

    def lost(self) -> DomainError:
        kind = Conflict if self.match is None else PreconditionFailed
        return kind("Somebody else has just changed this policy: read it and try again.")


def access_level(*, caller: Caller, agent_id: str | None, to_change: bool = False) -> Level:
    """The level that a key means. Raises Forbidden for another agent's than the bound one, and for a change
    by a key that is bound to a user or project, whose policy it would not be alone."""
    if to_change and (caller.user_id or caller.project):
        raise Forbidden("A key that is bound to a user or project may not change the policy.")
    return Level(caller.tenant_id, caller.confine_agent(agent_id))


def read_level(*, level: Level) -> LevelPolicy:
    """What the level holds at this moment."""
    with scope(level.tenant_id):
        return _current(level)


def write_policy(
    *,
    level: Level,
    actor: str,
    changes: Mapping[str, Any],
    expected_version: int | None = None,
    match_versions: Collection[int] | None = None,
    note: str = "",
) -> LevelPolicy:
    """Applies `changes` as a JSON merge patch: null gives a field back to the level above.

    Without any difference there is no new version. Raises Invalid naming the field; Conflict when the newest
    version is not the expected one or another writer was first; PreconditionFailed likewise with
    `match_versions`, when it is none of these.
    """
    with scope(level.tenant_id):
        current = _current(level)
        check_names(changes, current.document)
        after = merge(current.document, changes)
        return _add(current, after, _Expected(expected_version, match_versions), actor, note, "policy.write")


def replace_policy(
    *,
    level: Level,
    actor: str,
    document: Mapping[str, Any],
    expected_version: int | None = None,
    note: str = "",
) -> LevelPolicy:
    """Puts `document` in the place of all that the level holds; null, too, leaves a field to the level above.
    Raises as `write_policy` does."""
    with scope(level.tenant_id):
        current = _current(level)
        check_names(document, current.document)
        expected = _Expected(expected_version, None)
        return _add(current, merge({}, document), expected, actor, note, "policy.write")


def rollback_policy(
    *,
    level: Level,
    actor: str,
    to_version: int,
    expected_version: int | None = None,
    match_versions: Collection[int] | None = None,
    note: str = "",
) -> LevelPolicy:
    """Adds a version with the document of an old one; 0 is the empty one. Raises NotFound, else as above."""
    with scope(level.tenant_id):
        after = _document(level, to_version)
        note = note or f"rollback to version {to_version}"
        expected = _Expected(expected_version, match_versions)
        return _add(_current(level), after, expected, actor, note, "policy.rollback")


def list_levels(*, caller: Caller) -> list[str]:
    """The agents within the caller's reach that have a policy of their own, by name; a thousand at most."""
    with scope(caller.tenant_id):
        found = PolicyVersion.objects.filter(tenant_id=caller.tenant_id).exclude(agent_id="")
        named = found.filter(agent_id=caller.agent_id) if caller.agent_id else found
        return list(named.order_by("agent_id").values_list("agent_id", flat=True).distinct())


def list_changes(
    *, level: Level, limit: int, before: int | None = None
) -> list[tuple[PolicyVersion, list[Difference]]]:
    """The versions, newest first, each with what it changed."""
    found = list_versions(level=level, limit=limit + 1, before=before)
    former: list[Document] = [one.document for one in found[1:]] + [{}]
    pairs = zip(found, former, strict=False)  # the oldest came after nothing
    return [(one, diff_policies(document, one.document)) for one, document in pairs][:limit]


def list_versions(*, level: Level, limit: int, before: int | None = None) -> list[PolicyVersion]:
    """The versions, newest first; `before`: continue after that one."""
    with scope(level.tenant_id):
        found = _versions(level)
        if before is not None:
            found = found.filter(version__lt=before)
        return list(found.order_by("-version")[:limit])


def diff_versions(
    *, level: Level, from_version: int | None = None, to_version: int | None = None
) -> tuple[int, int, list[Difference]]:
    """Two versions and where their documents differ: by default the newest and the one before `to_version`.
    Raises NotFound for a version that does not exist."""
    with scope(level.tenant_id):
        after = _current(level).version if to_version is None else to_version
        before = max(after - 1, 0) if from_version is None else from_version
        return before, after, diff_policies(_document(level, before), _document(level, after))


def _versions(level: Level) -> Any:
    return PolicyVersion.objects.filter(tenant_id=level.tenant_id, agent_id=level.agent_id)


def _current(level: Level) -> LevelPolicy:
    newest = _versions(level).order_by("-version").first()
    above = {} if not level.agent_id else _current(Level(level.tenant_id)).document
    if newest is None:
        return LevelPolicy(level, 0, {}, above)
    return LevelPolicy(level, newest.version, newest.document, above)


def _document(level: Level, version: int) -> Document:
    if version == 0:
        return {}
    found = _versions(level).filter(version=version).first()
    if found is None:
        raise NotFound(f"There is no version {version} of this policy.")
    document: Document = found.document
    return document


def _add(
    current: LevelPolicy, after: Document, expected: _Expected, actor: str, note: str, action: str
) -> LevelPolicy:
    """The next version, in the open scope."""
    level = current.level
    expected.check(current.version)
    check_level(after, level.agent_id)
    check(after, current.above)
    differences = diff_policies(current.document, after)
    if not differences:
        idempotency.keep(current, user_id="")
        return current
    _bound_agents(current)
    version = current.version + 1
    try:
        PolicyVersion.objects.create(
            tenant_id=level.tenant_id,
            agent_id=level.agent_id,
            version=version,
            document=after,
            author=actor,
            note=note,
        )
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        raise expected.lost() from error  # whoever was first has this number
    audit.record(
        tenant_id=level.tenant_id,
        actor=actor,
        action=action,
        target=level.agent_id or "tenant",
        version=version,
        changes=[asdict(one) for one in differences],
    )
    transaction.on_commit(partial(reading.forget, level.tenant_id))
    added = LevelPolicy(level, version, after, current.above)
    idempotency.keep(added, user_id="")
    return added


def _bound_agents(current: LevelPolicy) -> None:
    level = current.level
    if level.agent_id and not current.version:
        others = PolicyVersion.objects.filter(tenant_id=level.tenant_id).exclude(agent_id="")
        if others.values("agent_id").distinct().count() >= MOST_AGENTS:
            raise Conflict(f"{MOST_AGENTS} agents of this tenant have a policy of their own: no more can.")
