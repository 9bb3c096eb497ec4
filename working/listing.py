"""Lists of sessions and figures about them."""

import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from tenants.telemetry import memory_span
from working import querysets
from working.models import Session
from working.sessions import confine

SLOW = 0.1  # seconds that a count may take to be done anew each time
REST = 20  # times as long as it took, a slow one serves
REACHES_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """How much there is."""

    sessions: int
    events: int


# Until when the figures of a reach serve, and the figures.
_slow: dict[tuple[UUID, str, str, str], tuple[float, SessionFigures]] = {}


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
    told = memory_span("recent_sessions", project=named["project"] or None)
    with told, scope(caller.tenant_id):
        return list(Session.objects.filter(condition).order_by("-last_activity_at", "-id")[:limit])


def access_session_row(*, caller: Caller, row_id: UUID) -> Session:
    """The session with that id of the server's. Raises NotFound, also for another user's than the key is
    bound to, Forbidden for another agent's or project's."""
    with scope(caller.tenant_id):
        found = Session.objects.filter(tenant_id=caller.tenant_id, id=row_id).first()
    if found is None or caller.user_id not in ("", found.user_id):
        raise NotFound("There is no such session.")
    confine(caller, found)
    return found


def newest_sessions(*, caller: Caller, project: str, limit: int) -> list[Session]:
    """The sessions of the project, in lower case, those begun last first. Within the project a key reaches
    its user's; the project is the caller's to confine."""
    with scope(caller.tenant_id):
        return list(_of_project(caller, project).order_by("-started_at", "-id")[:limit])


def newest_summaries(*, caller: Caller, project: str, limit: int) -> list[Session]:
    """Likewise, only those that have a summary."""
    with scope(caller.tenant_id):
        told = _of_project(caller, project).exclude(summary="")
        return list(told.order_by("-started_at", "-id")[:limit])


def count_in_project(*, caller: Caller, project: str) -> int:
    """How many sessions of the project, in lower case, the key reaches; empty: of all projects."""
    with scope(caller.tenant_id):
        return (_of_project(caller, project) if project else _of_user(caller)).count()


def list_projects(*, caller: Caller) -> list[str]:
    """The projects, in lower case and by name, that have a session of the key's user."""
    with scope(caller.tenant_id):
        if not caller.user_id:
            return sorted(querysets.projects_in(caller.tenant_id))
        mine = _of_user(caller).exclude(project_key="")
        return sorted(set(mine.values_list("project_key", flat=True)))


def count_sessions(*, caller: Caller) -> SessionFigures:
    """The sessions within the key's reach, and the events that were ever added to them.

    Reads a row for each session: some 0.4 s for a million. Figures that took long to come by are therefore up
    to `REST` times as old, so that a process spends a twentieth of its time on them at most.
    """
    reach, begun = (caller.tenant_id, caller.user_id, caller.agent_id, caller.project), time.monotonic()
    known = _slow.get(reach)
    if known is not None and begun < known[0]:
        return known[1]
    with scope(caller.tenant_id):
        found = Session.objects.filter(_reach(caller)).aggregate(sessions=Count("id"), events=Sum("last_seq"))
    figures, ended = SessionFigures(found["sessions"], found["events"] or 0), time.monotonic()
    if ended - begun > SLOW:
        if len(_slow) >= REACHES_KEPT:
            _slow.clear()
        _slow[reach] = (ended + (ended - begun) * REST, figures)
    return figures


def unused_sessions(*, caller: Caller, before: datetime, limit: int) -> list[Session]:
    """The sessions within the key's reach that PostgreSQL has not seen in use since then, oldest first."""
    with scope(caller.tenant_id):
        found = Session.objects.filter(_reach(caller), last_activity_at__lt=before)
        return list(found.order_by("last_activity_at", "id")[:limit])


def _of_project(caller: Caller, project: str) -> QuerySet[Session]:
    return _of_user(caller).filter(project_key=project)


def _of_user(caller: Caller) -> QuerySet[Session]:
    found = Session.objects.filter(tenant_id=caller.tenant_id)
    return found.filter(user_id=caller.user_id) if caller.user_id else found


def _reach(caller: Caller) -> Q:
    bound = {"user_id": caller.user_id, "agent_id": caller.agent_id, "project": caller.project}
    return Q(tenant_id=caller.tenant_id, **{name: value for name, value in bound.items() if value})
