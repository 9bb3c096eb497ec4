"""How much there is."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Q

from observations.models import Observation
from observations.observations import reach_of
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


@dataclass(frozen=True, slots=True)
class Breakdown:
    """How many live observations there are of each type and in each project, the most first; of how many
    types and projects; and how many are in the trash."""

    types: tuple[tuple[str, int], ...]
    projects: tuple[tuple[str, int], ...]
    type_count: int
    project_count: int
    live: int
    trashed: int


def read_breakdown(*, caller: Caller, most: int = 30) -> Breakdown:
    """Of what the key reaches; `most` types and projects. It counts every row, once."""
    reach = reach_of(caller)
    live, gone = Q(deleted_at=None), Q(deleted_at__isnull=False)
    types: Counter[str] = Counter()
    projects: Counter[str] = Counter()
    trashed = 0
    with scope(caller.tenant_id):
        grouped = Observation.objects.filter(reach).order_by().values_list("type", "project")
        for kind, project, here, away in grouped.annotate(
            here=Count("id", filter=live), away=Count("id", filter=gone)
        ):
            types[kind] += here
            projects[project] += here
            trashed += away
    types, projects = +types, +projects  # those of which there are any
    return Breakdown(
        types=tuple(types.most_common(most)),
        projects=tuple(projects.most_common(most)),
        type_count=len(types),
        project_count=len(projects),
        live=types.total(),
        trashed=trashed,
    )
