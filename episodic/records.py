"""Long-term records: episodes that clients name by ids of their own. Saved many at once, and deleted.

An id is its client's within one namespace and user. Where it stands for several records, that is a Conflict,
never a guess. A statement that is saved so closes none that it contradicts.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from episodic.duplicates import record_hash
from episodic.episodes import build_episode, check_length
from episodic.item_edits import refuse_record
from episodic.merging import merged_ids, undo, with_sources
from episodic.metrics import counted_at_commit
from episodic.models import Episode, MemoryType
from episodic.record_editing import edit_record
from episodic.record_reading import (
    LONGEST_ID,
    access_record,
    ambiguous,
    list_records,
    lock_people,
    records_named,
)
from episodic.record_replacing import Given, key_of
from episodic.record_writing import Batch
from episodic.retraction import remove
from episodic.types import NewEpisode, NewRecord, RecordChanges, Saved
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Invalid
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.ulids import new_ulid

__all__ = [
    "NewRecord",
    "RecordChanges",
    "Saved",
    "access_record",
    "delete_records",
    "edit_record",
    "list_records",
    "prepare_records",
    "record_hash",
    "save_records",
    "write_records",
]

# Texts that the model is asked for at once. More of them that are not compared wait for the sweeper: each is
# found by its words until then, and nobody waits for the model.
EMBEDDED = 128


def save_records(*, caller: Caller, records: Sequence[NewRecord], deduplicate: bool, now: datetime) -> Saved:
    """Saves them in one commit: of an id that comes twice the last; one whose id is there already in its
    place, with its history, and it holds again if it held no more.

    With `deduplicate`, one that is there word for word is dropped, and the one that is there counts as used;
    one that says no more or no less than one near to it in meaning (`records.deduplication_distance`), of the
    same user, agent, project, namespace and type, is merged with it, which `unmerge` undoes. Without the
    model they are found by their words, embedded later, and merged by the nightly compaction. More than
    `EMBEDDED` without `deduplicate` are embedded later in any case.

    Raises Forbidden for another's than the key is bound to, Invalid, TooLarge, Conflict for an id that stands
    for what the key does not reach or is one of the store's, Erased and Restricted.
    """
    given = prepare_records(caller=caller, records=records, deduplicate=deduplicate, now=now)
    with scope(caller.tenant_id):
        return write_records(caller=caller, given=given, deduplicate=deduplicate, now=now)


def prepare_records(
    *, caller: Caller, records: Sequence[NewRecord], deduplicate: bool = True, now: datetime
) -> list[Given]:
    """Each id once, with their vectors, to be written soon. Asks the model, so never in a scope."""
    built = {key_of(one): (one, record) for record in records for one in [_built(caller, record, now)]}
    asked = [] if _is_left(len(built), deduplicate) else [one.text for one, _record in built.values()]
    vectors = list(_vectors(asked, caller.tenant_id))
    return [
        Given(
            one,
            vectors[number] if number < len(vectors) else None,
            record.created_at is not None,
            None if record.last_accessed is None else min(record.last_accessed, now),
            record.access_count,
        )
        for number, (one, record) in enumerate(built.values())
    ]


def write_records(*, caller: Caller, given: Sequence[Given], deduplicate: bool, now: datetime) -> Saved:
    """Saves what is prepared as `save_records` does, in the open scope."""
    if not given:
        return Saved(())
    distance = read_policy(tenant_id=caller.tenant_id).records.deduplication_distance
    is_embedded = _is_left(len(given), deduplicate) or all(one.vector is not None for one in given)
    with counted_at_commit(embedded=is_embedded, episodes=len(given)):
        lock_people(caller, [one.episode for one in given], now)
        batch = Batch(caller=caller, given=given, distance=distance if deduplicate else -1.0, now=now)
        decided = list(map(batch.save, given))
        batch.flush()
    return Saved(tuple(map(batch.told, decided)))


def delete_records(
    *,
    caller: Caller,
    record_ids: Collection[str],
    user_id: str | None = None,
    namespace: str | None = None,
    now: datetime,
) -> int:
    """Deletes those that there are for good, with what they were made of; how many. One that was merged is
    taken out again: the other sources hold. Which are meant is told as to `access_record`. Raises Conflict
    when one of the ids stands for several records, and nothing is deleted; Forbidden, Erased, Restricted."""
    caller.confine_user(user_id)  # also where no id is given
    with scope(caller.tenant_id):
        found = _meant(caller, record_ids, user_id, namespace)
        lock_people(caller, list(found.values()), now)
        gone: dict[UUID, Episode] = {}
        for one in sorted(_locked(caller.tenant_id, found), key=lambda row: row.valid_to is not None):
            for whole in _merged_of(one):
                undo(whole, now=now)
                gone[whole.id] = whole
            gone |= {source.id: source for source in with_sources(one)}
        remove(caller=caller, episodes=list(gone.values()))
        idempotency.keep(len(found), user_id=_only_user(list(found.values())))
    return len(found)


def _built(caller: Caller, record: NewRecord, now: datetime) -> Episode:
    if record.id is not None and (not record.id or len(record.id) > LONGEST_ID or "\x00" in record.id):
        raise Invalid(f"Must be 1 to {LONGEST_ID} characters, none of them NUL.", "id")
    if record.memory_type not in MemoryType.values:
        raise Invalid(f"Must be one of {', '.join(MemoryType.values)}.", "memory_type")
    created_at = record.created_at or now
    if (created_at - now).total_seconds() > settings.MAX_FUTURE_TIMESTAMP_SECONDS:
        raise Invalid("May not be in the future.", "created_at")
    new = NewEpisode(
        text=record.text,
        user_id=record.user_id,
        session_id=record.session_id,
        namespace=record.namespace,
        memory_type=record.memory_type,
        topics=record.topics,
        entities=record.entities,
        event_date=record.event_date,
        metadata=record.metadata,
    )
    episode = build_episode(caller=caller, new=new, now=now)
    check_length(episode, episode.text)
    episode.external_id = record.id or new_ulid()
    episode.created_at, episode.persisted_at = min(created_at, now), now
    episode.pinned_at = now if record.pinned else None
    episode.extraction = {
        "strategy": record.extraction_strategy,
        "config": record.extraction_config,
        "from": list(record.extracted_from),
        "done": record.extracted,
    }
    refuse_record(episode)
    return episode


def _meant(
    caller: Caller, record_ids: Collection[str], user_id: str | None, namespace: str | None
) -> dict[UUID, Episode]:
    """Those of the ids that there are. In the open scope."""
    named = {
        one: records_named(caller, one, user_id=user_id, namespace=namespace)
        for one in dict.fromkeys(record_ids)
    }
    if several := [one for one, some in named.items() if len(some) > 1]:
        raise ambiguous(several)
    return {one.id: one for some in named.values() for one in some}


def _is_left(count: int, deduplicate: bool) -> bool:
    """Whether so many records are left to the sweeper to be embedded."""
    return not deduplicate and count > EMBEDDED


def _vectors(texts: Sequence[str], tenant_id: UUID) -> Iterator[NDArray[np.float32]]:
    """The vectors of the texts, or of the first of them, as long as the model answers."""
    for begin in range(0, len(texts), EMBEDDED):
        vectors = try_embed(texts[begin : begin + EMBEDDED], tenant_id=tenant_id)
        if vectors is None:
            return
        yield from vectors


def _locked(tenant_id: UUID, ids: Collection[UUID]) -> list[Episode]:
    rows = Episode.objects.select_for_update().filter(tenant_id=tenant_id, id__in=ids)
    return list(rows.order_by("id"))


def _merged_of(source: Episode) -> list[Episode]:
    """What the record was merged into, and that in turn, the last first."""
    wholes: list[Episode] = []
    one = source
    while one.superseded_by is not None:
        mine = Episode.objects.select_for_update().filter(tenant_id=one.tenant_id, id=one.superseded_by)
        whole = mine.first()
        if whole is None or one.id not in merged_ids(whole):
            break
        wholes.insert(0, whole)
        one = whole
    return wholes


def _only_user(episodes: Sequence[Episode]) -> str:
    """Whose it all is; nobody's if it is several people's."""
    users = {one.user_id for one in episodes}
    return users.pop() if len(users) == 1 else ""
