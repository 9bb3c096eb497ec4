"""How far a key reaches into documents."""

from django.db.models import Q

from knowledge.types import Reach
from tenants.agents.reading import read_agent
from tenants.agents.spec import normal_project
from tenants.caller import Caller
from tenants.errors import Forbidden


def reach_of(caller: Caller, *, project: str | None = None, user_id: str | None = None) -> Reach:
    """What the caller sees, confined to project and user where they are named. Raises Forbidden when the key
    is bound to another."""
    named = _project(caller, project)
    return Reach(caller.tenant_id, named or None, caller.confine_user(user_id) or None)


def owner_of(caller: Caller, *, project: str | None, user_id: str | None) -> tuple[str, str]:
    """The project and the user that what the caller writes belongs to; empty: to all. Raises Forbidden
    likewise."""
    return _project(caller, project), caller.confine_user(user_id)


def may_change(caller: Caller, *, project: str, user_id: str) -> bool:
    """Whether what belongs to these is the key's own: what everybody sees, a bound key only reads."""
    bound = _bound_project(caller)
    return (not bound or project == bound) and (not caller.user_id or user_id == caller.user_id)


def seen(reach: Reach) -> Q:
    """The condition on rows that have a project and a user."""
    condition = Q(tenant_id=reach.tenant_id)
    if reach.project is not None:
        condition &= Q(project__in=("", reach.project))
    if reach.user_id is not None:
        condition &= Q(user_id__in=("", reach.user_id))
    return condition


def _project(caller: Caller, named: str | None) -> str:
    wanted, bound = normal_project(named or ""), _bound_project(caller)
    if bound and wanted and wanted != bound:
        raise Forbidden("This key is bound to another project.")
    return wanted or bound


def _bound_project(caller: Caller) -> str:
    """An agent's key reaches its agent's project, as in observations."""
    if caller.project or not caller.agent_id:
        return normal_project(caller.project)
    agent = read_agent(tenant_id=caller.tenant_id, name=caller.agent_id)
    return agent.project if agent else normal_project(caller.agent_id)
