"""What was noted before and after an observation."""

from django.db.models import Q

from observations.models import Observation
from observations.observations import access_observation, reach_of
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import memory_span


def read_timeline(*, caller: Caller, observation_id: int, before: int, after: int) -> list[Observation]:
    """The observation between its neighbours of the same project, oldest first: `before` older ones and
    `after` newer ones. Of one moment, the order of their numbers counts. Raises NotFound."""
    with memory_span("timeline", observation_id=observation_id) as span:
        anchor = access_observation(caller=caller, observation_id=observation_id)
        span.set(project=anchor.project)
        return _around(caller, anchor, before, after)


def _around(caller: Caller, anchor: Observation, before: int, after: int) -> list[Observation]:
    reach = reach_of(caller)
    at, number = anchor.created_at, anchor.id
    # The first condition is for the index, which an alternative alone could not bound.
    older = Q(created_at__lte=at) & (Q(created_at__lt=at) | Q(id__lt=number))
    newer = Q(created_at__gte=at) & (Q(created_at__gt=at) | Q(id__gt=number))
    with scope(caller.tenant_id):
        mine = Observation.objects.filter(reach, project=anchor.project, deleted_at=None)
        past = list(mine.filter(older).order_by("-created_at", "-id")[:before])
        future = list(mine.filter(newer).order_by("created_at", "id")[:after])
    return [*reversed(past), anchor, *future]
