"""Making one observation of two."""

from datetime import datetime

from django.db.models import Q, QuerySet

from observations.announcements import tell_observation
from observations.indexing import index_observation, unindex_observation
from observations.models import Observation
from observations.observations import reach_of
from observations.revising import keep_revision
from observations.trail import record
from observations.validation import MOST_TAGS
from tenants.caller import Caller
from tenants.errors import Conflict, Invalid, NotFound
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from webhooks.models import Event


def access_pair(*, caller: Caller, observation_id: int, other_id: int) -> tuple[Observation, Observation]:
    """Two live ones that can be merged, in that order. Raises NotFound; Conflict for two of different
    projects, users or scopes."""
    reach = reach_of(caller, to_change=True)
    with scope(caller.tenant_id):
        return _pair(list(_both(reach, observation_id, other_id)), observation_id, other_id)


def merge_observations(*, caller: Caller, keep_id: int, other_id: int, now: datetime) -> Observation:
    """Keeps the first, with the tags of both, as many as an observation takes, and how often either was seen;
    what the other says becomes a revision of it, and the other goes to the trash, from where it comes back
    unchanged. Raises as `access_pair` does."""
    kept, _other = access_pair(caller=caller, observation_id=keep_id, other_id=other_id)
    reach = reach_of(caller, to_change=True)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=kept.user_id, since=now)
        locked = list(_both(reach, keep_id, other_id).select_for_update().order_by("id"))
        kept, other = _pair(locked, keep_id, other_id)
        keep_revision(kept, caller=caller, now=now, merged=other)
        tags = list(dict.fromkeys([*kept.tags, *other.tags]))[:MOST_TAGS]
        if tags != kept.tags:
            keep_revision(kept, caller=caller, now=now)
        kept.tags, kept.updated_at = tags, now
        kept.duplicate_count += other.duplicate_count
        kept.save(update_fields=["tags", "updated_at", "duplicate_count"])
        index_observation(kept, now=now)
        other.deleted_at = now
        other.save(update_fields=["deleted_at"])
        unindex_observation(other)
        tell_observation(kept, Event.UPDATED)
        tell_observation(other, Event.RETRACTED)
        record(caller, "merge", str(kept.id), other=other.id)
    return kept


def _both(reach: Q, observation_id: int, other_id: int) -> QuerySet[Observation]:
    return Observation.objects.filter(reach, id__in=(observation_id, other_id), deleted_at=None)


def _pair(rows: list[Observation], observation_id: int, other_id: int) -> tuple[Observation, Observation]:
    if observation_id == other_id:
        raise Invalid("An observation cannot be merged with itself.", "other")
    by_id = {row.id: row for row in rows}
    if len(by_id) < 2:
        raise NotFound("observation not found")
    one, other = by_id[observation_id], by_id[other_id]
    if (one.project, one.user_id, one.scope) != (other.project, other.user_id, other.scope):
        raise Conflict("Only observations of one project, scope and person can be merged.")
    return one, other
