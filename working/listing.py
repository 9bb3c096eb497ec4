"""Lists of sessions and figures about them."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from tenants.caller import Caller
from tenants.scope import scope
from working.models import Session


def list_sessions(
    *,
    caller: Caller,
    limit: int,
    user_id: str | None = None,
    agent_id: str | None = None,
    project: str | None = None,
    namespace: str | None = None,
    active: bool | None = None,
    before: tuple[datetime, UUID] | None = None,
) -> list[Session]:
    """Sessions within the key's reach, newest activity first; `before`: continue after that one."""
    named = {
        "user_id": caller.confine_user(user_id),
        "agent_id": caller.confine_agent(agent_id),
        "project": caller.confine_project(project),
        "namespace": namespace,
    }
    condition = Q(tenant_id=caller.tenant_id, **{name: value for name, value in named.items() if value})
    if active is not None:
        condition &= Q(ended_at__isnull=active)
    if before is not None:
        moment, session_id = before
        condition &= Q(last_activity_at__lt=moment) | Q(last_activity_at=moment, id__lt=session_id)
    with scope(caller.tenant_id):
        return list(Session.objects.filter(condition).order_by("-last_activity_at", "-id")[:limit])
