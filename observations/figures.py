"""How much there is."""

from dataclasses import dataclass

from django.db.models import Q

from observations.models import Observation
from tenants.agents.projects import bound_project, project_of
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import memory_span
from working.listing import count_in_project, list_projects


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one project or all: sessions and live observations. Every project that the key reaches, by name."""

    sessions: int
    observations: int
    projects: tuple[str, ...]


def read_figures(*, caller: Caller, project: str) -> Figures:
    """Figures of the project; of all that the key reaches if none is named."""
    with memory_span("stats") as span:
        named = project_of(caller, project)
        span.set(project=named)
        return _figures(caller, named)


def _figures(caller: Caller, named: str) -> Figures:
    bound = bound_project(caller)
    live = Q(tenant_id=caller.tenant_id, deleted_at=None)
    live &= Q(project=named) if named else Q()
    live &= Q(user_id=caller.user_id) if caller.user_id else Q()
    with scope(caller.tenant_id):
        return Figures(
            sessions=count_in_project(caller=caller, project=named),
            observations=Observation.objects.filter(live).count(),
            projects=tuple(one for one in list_projects(caller=caller) if not bound or one == bound),
        )
