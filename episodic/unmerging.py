"""Taking a merge of records back."""

from datetime import datetime
from uuid import UUID

from episodic.duplicates import lock_memories
from episodic.episodes import access_episode, lock_episode
from episodic.merging import merged_ids, undo
from episodic.models import Episode
from episodic.record_reading import memory_of
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict
from tenants.scope import scope
from tenants.tombstones import refuse_erased


def unmerge(*, caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """Has what the record was made of hold again, and closes it; the record. They are not merged once more by
    themselves. One that was taken apart already stays as it is. The audit log tells of it.

    Raises NotFound, Conflict for what no merge has made, and for one that was merged further: that comes
    first.
    """
    seen = access_episode(caller=caller, episode_id=episode_id)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=now)
        lock_memories(caller.tenant_id, [memory_of(seen)])
        merged = lock_episode(caller=caller, episode_id=episode_id, now=now)
        if not merged_ids(merged):
            raise Conflict("It was not made by merging others.")
        if merged.superseded_by is not None:
            raise Conflict(f"It was merged further: undo {merged.superseded_by} first.")
        if sources := undo(merged, now=now):
            audit.record(
                tenant_id=caller.tenant_id,
                actor=caller.principal,
                action="episode.unmerge",
                target=str(merged.id),
                sources=[str(one.id) for one in sources],
            )
            merged.refresh_from_db()
        idempotency.keep(merged, user_id=merged.user_id)
    return merged
