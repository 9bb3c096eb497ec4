"""One observation within the key's reach, and lists of them."""

from datetime import datetime
from itertools import chain

from django.db.models import Q

from observations import querysets
from observations.models import Observation
from observations.search import confine
from observations.types import GLOBAL, ObservationFilter
from tenants.agents.projects import bound_project, project_of
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from tenants.telemetry import memory_span


def access_observation(*, caller: Caller, observation_id: int, trashed: bool = False) -> Observation:
    """A live one that the key reaches; with `trashed`, also one in the trash. Raises NotFound, also for
    another's."""
    with memory_span("get_observation", observation_id=observation_id) as span:
        reach = reach_of(caller)
        with scope(caller.tenant_id):
            found = Observation.objects.filter(reach, id=observation_id).first()
        if found is None or (found.deleted_at is not None and not trashed):
            raise NotFound("observation not found")
        span.set(project=found.project, type=found.type)
    return found


def reach_of(caller: Caller, *, to_change: bool = False) -> Q:
    """What the key sees: one user's, one project's and the global ones; or what it may change: of these, its
    own project's. Asked outside a scope."""
    condition = Q(tenant_id=caller.tenant_id)
    if caller.user_id:
        condition &= Q(user_id=caller.user_id)
    if project := bound_project(caller):
        condition &= Q(project=project) if to_change else Q(project=project) | Q(scope=GLOBAL)
    return condition


def list_observations(
    *,
    caller: Caller,
    where: ObservationFilter,
    limit: int,
    before: tuple[datetime, int] | None = None,
    trashed: bool = False,
) -> list[Observation]:
    """Observations within the key's reach, newest first; `before`: continue after that one. Those in the
    trash instead, those thrown away last first."""
    with memory_span("recent_observations", type=where.type) as span:
        where = confine(caller, where)
        span.set(project=where.project)
        return _newest(caller, where, limit, before, trashed)


def _newest(
    caller: Caller,
    where: ObservationFilter,
    limit: int,
    before: tuple[datetime, int] | None,
    trashed: bool,
) -> list[Observation]:
    moment = "deleted_at" if trashed else "created_at"
    condition = querysets.matching(tenant_id=caller.tenant_id, where=where)
    condition &= Q(deleted_at__isnull=not trashed)
    if before is not None:
        at, observation_id = before
        # The first condition is for the index, which an alternative alone could not bound.
        condition &= Q(**{f"{moment}__lte": at}) & (Q(**{f"{moment}__lt": at}) | Q(id__lt=observation_id))
    with scope(caller.tenant_id):
        arms = [
            Observation.objects.filter(condition, arm).order_by(f"-{moment}", "-id")[:limit]
            for arm in _arms(where)
        ]
        found = {row.id: row for row in chain.from_iterable(arms)}.values()
    return sorted(found, key=lambda row: (getattr(row, moment), row.id), reverse=True)[:limit]


def recent_observations(*, caller: Caller, where: ObservationFilter, limit: int) -> list[Observation]:
    """The newest of a project and the global ones of all; none without a project."""
    if not project_of(caller, where.project):
        return []
    return list_observations(caller=caller, where=where, limit=limit)


def _arms(where: ObservationFilter) -> list[Q]:
    """Each has an index of its own; for both at once PostgreSQL would sort all that there is."""
    if not where.project or where.scope == GLOBAL:
        return [Q()]
    return [Q(project=where.project)] if where.scope else [Q(project=where.project), Q(scope=GLOBAL)]
