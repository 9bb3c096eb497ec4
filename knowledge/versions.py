"""Procedures as people look them over: what every environment runs, which versions there are, and the way
back to one."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from knowledge.deploying import rollback_procedure
from knowledge.models import Deployment, Procedure
from knowledge.types import Deployed
from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope

MOST = 200  # versions and deployments of one procedure that are shown


@dataclass(frozen=True, slots=True)
class Running:
    """The version that an environment runs."""

    environment: str
    version: str
    deployment: Deployment


@dataclass(frozen=True, slots=True)
class Named:
    """A procedure by its name."""

    name: str
    running: tuple[Running, ...]


@dataclass(frozen=True, slots=True)
class History:
    """All of a procedure: its versions and deployments, the newest of each first."""

    name: str
    versions: tuple[Procedure, ...]
    running: tuple[Running, ...]
    deployments: tuple[Running, ...]


def list_named(*, caller: Caller) -> list[Named]:
    """Every procedure that an environment runs, by name."""
    with scope(caller.tenant_id):
        deployed = Deployment.objects.filter(tenant_id=caller.tenant_id)
        newest = deployed.order_by("environment", "name", "-deployed_at", "-id").distinct(
            "environment", "name"
        )
        running = _running(caller, list(newest))
    by_name: dict[str, list[Running]] = defaultdict(list)
    for one in running:
        by_name[one.deployment.name].append(one)
    return [Named(name, tuple(by_name[name])) for name in sorted(by_name)]


def read_history(*, caller: Caller, name: str) -> History:
    """The newest `MOST` versions and deployments. Raises NotFound."""
    with scope(caller.tenant_id):
        named = Procedure.objects.filter(tenant_id=caller.tenant_id, name=name)
        versions = list(named.order_by("-created_at", "-id")[:MOST])
        deployed = Deployment.objects.filter(tenant_id=caller.tenant_id, name=name)
        deployments = _running(caller, list(deployed.order_by("-deployed_at", "-id")[:MOST]))
    if not versions:
        raise NotFound("There is no such procedure.")
    newest = {one.environment: one for one in reversed(deployments)}
    return History(name, tuple(versions), tuple(newest[one] for one in sorted(newest)), tuple(deployments))


def roll_back(*, caller: Caller, name: str, environment: str, to: str, now: datetime) -> Deployed:
    """Has the environment run that version again. Deploying is for whoever runs the server: raises Forbidden
    for a caller who is no admin of the tenant, or bound to a part of it; NotFound. As the admin role."""
    if not caller.may("admin") or caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("Only an admin of the tenant rolls procedures back.")
    return rollback_procedure(
        tenant_id=caller.tenant_id, environment=environment, name=name, actor=caller.principal, now=now, to=to
    )


def _running(caller: Caller, deployments: list[Deployment]) -> list[Running]:
    """Each with its version's name. In the open scope."""
    ids = {one.procedure_id for one in deployments}
    found = Procedure.objects.filter(tenant_id=caller.tenant_id, id__in=ids)
    names = dict(found.values_list("id", "version"))
    return [Running(one.environment, names[one.procedure_id], one) for one in deployments]
