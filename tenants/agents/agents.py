"""Agents as they are declared: stored, read, listed, deleted. Whoever changes one is in the audit log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from tenants import audit, idempotency
from tenants.agents import reading
from tenants.agents.parsing import Declared, read_declaration
from tenants.agents.spec import normal_project
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, NotFound
from tenants.models import Agent
from tenants.scope import scope


@dataclass(frozen=True, slots=True)
class Applied:
    """The agent as it is now, and what that took."""

    agent: Agent
    created: bool
    changed: bool  # also true of one that is new


@dataclass(frozen=True, slots=True)
class DeletedAgent:
    """Whether there was one."""

    found: bool


def put_agent(*, caller: Caller, name: str, document: Any, now: datetime) -> Applied:
    """Stores what `document` declares, the plain one or a resource, in place of what was there. Without any
    difference nothing is written. Raises Invalid naming the field, TooLarge, Forbidden for another agent's
    than the bound one and for a key that is bound to a user or project."""
    _access_to_change(caller, name)
    declared = read_declaration(document, name=name)
    with scope(caller.tenant_id):
        applied = _apply(caller.tenant_id, caller.principal, declared, now)
        idempotency.keep(applied, user_id="")
    return applied


def apply_agents(
    *, tenant_id: UUID, actor: str, declared: Sequence[Declared], now: datetime
) -> list[Applied]:
    """Stores all or none, each as `put_agent` does, and answers in their order; for commands."""
    # By name, so that two of us do not wait for each other's rows.
    by_name = sorted(range(len(declared)), key=lambda place: declared[place].name)
    with scope(tenant_id):
        applied = {place: _apply(tenant_id, actor, declared[place], now) for place in by_name}
    return [applied[place] for place in range(len(declared))]


def access_agent(*, caller: Caller, name: str) -> Agent:
    """The agent of that name. Raises NotFound; Forbidden for another than the key is bound to, or one of
    another project."""
    caller.confine_agent(name)
    with scope(caller.tenant_id):
        found = Agent.objects.filter(tenant_id=caller.tenant_id, name=name).first()
    if found is None:
        raise NotFound("There is no such agent.")
    if caller.project and found.project != normal_project(caller.project):
        raise Forbidden("This key is bound to another project.")
    return found


def list_agents(*, caller: Caller, limit: int, after: str | None = None) -> list[Agent]:
    """The agents within the key's reach, by name; `after`: those behind that name."""
    with scope(caller.tenant_id):
        found = Agent.objects.filter(tenant_id=caller.tenant_id)
        if caller.agent_id:
            found = found.filter(name=caller.agent_id)
        if caller.project:
            found = found.filter(project=normal_project(caller.project))
        if after is not None:
            found = found.filter(name__gt=after)
        return list(found.order_by("name")[:limit])


def delete_agent(*, caller: Caller, name: str) -> DeletedAgent:
    """Forgets what was declared: the defaults hold for that name again. Its memories stay. Raises Forbidden
    as `put_agent` does."""
    _access_to_change(caller, name)
    with scope(caller.tenant_id):
        found = _locked(caller.tenant_id, name)
        if found is not None:
            Agent.objects.filter(tenant_id=caller.tenant_id, id=found.id).delete()
            audit.record(
                tenant_id=caller.tenant_id, actor=caller.principal, action="agent.delete", target=name
            )
            _forget_on_commit(caller.tenant_id, name, {found.project})
        deleted = DeletedAgent(found is not None)
        idempotency.keep(deleted, user_id="")
    return deleted


def _access_to_change(caller: Caller, name: str) -> None:
    if caller.user_id or caller.project:
        raise Forbidden("A key that is bound to a user or project may not change agents.")
    caller.confine_agent(name)


def _apply(tenant_id: UUID, actor: str, declared: Declared, now: datetime) -> Applied:
    """In the open scope."""
    made = Agent(
        tenant_id=tenant_id,
        name=declared.name,
        project=normal_project(declared.document.memory.project),
        spec=declared.document.as_json(),
        created_at=now,
        updated_at=now,
    )
    current = _locked(tenant_id, declared.name)
    if current is None and _insert(made):
        _record(made, actor, "agent.create", _differences({}, made.spec), {made.project})
        return Applied(made, created=True, changed=True)
    current = current or _locked(tenant_id, declared.name)
    if current is None:
        raise Conflict("Somebody else has just made and deleted this agent: try again.")
    changed = _differences(current.spec, made.spec)
    if not changed:
        return Applied(current, created=False, changed=False)
    projects = {current.project, made.project}
    current.project, current.spec = made.project, made.spec
    current.version, current.updated_at = current.version + 1, now
    current.save(update_fields=["project", "spec", "version", "updated_at"])
    _record(current, actor, "agent.change", changed, projects)
    return Applied(current, created=False, changed=True)


def _locked(tenant_id: UUID, name: str) -> Agent | None:
    return Agent.objects.select_for_update().filter(tenant_id=tenant_id, name=name).first()


def _insert(made: Agent) -> bool:
    """Whether nobody else was first."""
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        return False
    return True


def _record(agent: Agent, actor: str, action: str, fields: list[str], projects: set[str]) -> None:
    audit.record(
        tenant_id=agent.tenant_id,
        actor=actor,
        action=action,
        target=agent.name,
        version=agent.version,
        fields=fields,
    )
    _forget_on_commit(agent.tenant_id, agent.name, projects)


def _forget_on_commit(tenant_id: UUID, name: str, projects: set[str]) -> None:
    transaction.on_commit(partial(reading.forget, tenant_id, name=name, projects=projects))


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of the fields that differ, dotted."""
    old, new = _flat(before), _flat(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _flat(spec: dict[str, Any]) -> dict[str, Any]:
    return {f"{block}.{name}": value for block, values in spec.items() for name, value in values.items()}
