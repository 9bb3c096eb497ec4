"""How far a key reaches into documents."""

from django.db.models import Q

from knowledge.types import Reach
from tenants.agents.projects import bound_project, project_of
from tenants.caller import Caller


def reach_of(caller: Caller, *, project: str | None = None, user_id: str | None = None) -> Reach:
    """What the caller sees, confined to project and user where they are named. Raises Forbidden when the key
    is bound to another."""
    named = project_of(caller, project)
    return Reach(caller.tenant_id, named or None, caller.confine_user(user_id) or None)


def owner_of(caller: Caller, *, project: str | None, user_id: str | None) -> tuple[str, str]:
    """The project and the user that what the caller writes belongs to; empty: to all. Raises Forbidden
    likewise."""
    return project_of(caller, project), caller.confine_user(user_id)


def may_change(caller: Caller, *, project: str, user_id: str) -> bool:
    """Whether what belongs to these is the key's own: what everybody sees, a bound key only reads."""
    bound = bound_project(caller)
    return (not bound or project == bound) and (not caller.user_id or user_id == caller.user_id)


def seen(reach: Reach) -> Q:
    """The condition on rows that have a project and a user."""
    condition = Q(tenant_id=reach.tenant_id)
    if reach.project is not None:
        condition &= Q(project__in=("", reach.project))
    if reach.user_id is not None:
        condition &= Q(user_id__in=("", reach.user_id))
    return condition
