"""Procedures as agents read them: what an environment runs, or a version by its name."""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from knowledge.models import Deployment, Procedure
from tenants import audit
from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope

EVERY_AGENT = "*"
LONGEST_TARGET = 255  # characters that the audit log keeps of what was meant


def list_procedures(
    *, caller: Caller, environment: str | None = None, limit: int | None = None, after: str | None = None
) -> list[Procedure]:
    """The version of each procedure that the environment runs, by name; `after`: those behind that name."""
    with scope(caller.tenant_id):
        newest = _newest(caller.tenant_id, environment, after=after, limit=limit)
        return _procedures_of(caller.tenant_id, newest)


def access_procedure(
    *, caller: Caller, name: str, version: str | None = None, environment: str | None = None
) -> Procedure:
    """The version that the environment runs; with `version`, that one, which the environment must run if it
    is named. Raises NotFound."""
    with scope(caller.tenant_id):
        newest = _newest(caller.tenant_id, environment, name=name)
        running = next(iter(_procedures_of(caller.tenant_id, newest)), None)
        if version is None or (running and running.version == version):
            found = running
        elif environment is not None:
            found = None
        else:
            found = Procedure.objects.filter(tenant_id=caller.tenant_id, name=name, version=version).first()
    if found is None:
        raise NotFound("There is no such procedure.")
    return found


def procedures_for(*, caller: Caller, agent_id: str, environment: str | None = None) -> list[Procedure]:
    """Those of the environment that are to be injected for the agent, by name: which `agents` above their
    body names, or that are for every agent (`*`)."""
    meant = {EVERY_AGENT, agent_id} if agent_id else {EVERY_AGENT}
    found = list_procedures(caller=caller, environment=environment)
    return [one for one in found if not meant.isdisjoint(agents_of(one))]


def agents_of(procedure: Procedure) -> list[str]:
    """The agents that it is injected for."""
    agents: list[str] = procedure.metadata.get("agents", [])
    return agents


def refuse_write(*, caller: Caller, name: str, method: str) -> None:
    """Raises Forbidden after it has entered the attempt into the audit log: whoever runs the server deploys
    procedures, never an agent, whatever its key may do."""
    with scope(caller.tenant_id):
        audit.record(
            tenant_id=caller.tenant_id,
            actor=caller.principal,
            action="procedure.write_refused",
            target=name[:LONGEST_TARGET],
            method=method,
        )
    raise Forbidden("Procedures are deployed by whoever runs the server: manage.py deploy_procedures.")


def _newest(
    tenant_id: UUID,
    environment: str | None,
    *,
    name: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Deployment]:
    """The deployment of each name that counts. In the open scope."""
    wanted = settings.PROCEDURE_ENVIRONMENT if environment is None else environment
    found = Deployment.objects.filter(tenant_id=tenant_id, environment=wanted)
    if name is not None:
        found = found.filter(name=name)
    if after is not None:
        found = found.filter(name__gt=after)
    return list(found.order_by("name", "-deployed_at", "-id").distinct("name")[:limit])


def _procedures_of(tenant_id: UUID, deployments: Sequence[Deployment]) -> list[Procedure]:
    """What they deployed, in their order, each with its deployment."""
    ids = [one.procedure_id for one in deployments]
    rows = Procedure.objects.filter(tenant_id=tenant_id, id__in=ids).in_bulk() if ids else {}
    found = []
    for one in deployments:
        procedure = rows[one.procedure_id]
        procedure.deployment = one
        found.append(procedure)
    return found
