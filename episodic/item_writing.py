"""Putting and deleting items of the store. Each is said by an episode of its own, written as records are:
with its history, in place of what it said before."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from episodic.episodes import build_episode
from episodic.item_queries import UPSERT
from episodic.item_text import Visits, text_of
from episodic.item_types import ItemName, NewItem, path_text
from episodic.models import ITEM, ITEMS_NAMESPACE, Episode, Item, ItemVector, MemoryType
from episodic.record_reading import lock_people
from episodic.record_replacing import Given
from episodic.records import write_records
from episodic.retraction import remove
from episodic.rows import insert_rows
from episodic.types import NewEpisode
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import TooLarge
from tenants.json_columns import json_text
from tenants.policy.reading import read_policy
from tenants.tombstones import Erased, last_erasures

EMBEDDED = 128  # texts that the model is asked for at once
LARGEST_VALUE = 262_144  # bytes of JSON
COLUMNS = [field.column for field in Item._meta.concrete_fields if field.column]


@dataclass(frozen=True, slots=True)
class Prepared:
    """An item with the unsaved episode that is to say it, and its vector."""

    item: NewItem
    given: Given


def prepare_items(*, caller: Caller, items: Sequence[NewItem], now: datetime) -> list[Prepared]:
    """Ready to be written soon, with the vectors of those that the client has made none for. Asks the model,
    so never in a scope. Raises TooLarge for more than `LARGEST_VALUE`, and Invalid for paths that come past
    too many places of them all."""
    visits = Visits()
    episodes = [_episode(caller, one, visits, now) for one in items]
    places = [at for at, one in enumerate(items) if episodes[at].text and not one.vectors]
    vectors = dict(
        zip(places, _vectors([episodes[at].text for at in places], caller.tenant_id), strict=False)
    )
    return [
        Prepared(one, Given(episode, vectors.get(at), False, None, 0))
        for at, (one, episode) in enumerate(zip(items, episodes, strict=True))
    ]


def write_items(
    *, caller: Caller, prepared: Sequence[Prepared], deleted: Sequence[ItemName], now: datetime
) -> None:
    """Puts the ones, each name once, and deletes the others for good where they are, in the open scope.
    Raises Erased and Restricted, and Conflict for what is out of the key's reach."""
    _refuse_named_after(caller, [*(one.item.name for one in prepared), *deleted], now)
    if deleted:  # else putting locks all that there is to be locked
        named = [_unsaved(caller, one) for one in deleted]
        lock_people(caller, [*(one.given.episode for one in prepared), *named], now)
    _put(caller, prepared, now)
    _delete(caller, deleted)


def _refuse_named_after(caller: Caller, names: Sequence[ItemName], now: datetime) -> None:
    """What nobody has put in a namespace that names a person is as restricted as that one's, and as little
    brought back when the person was erased since `now`. Nobody of them can be until the scope ends."""
    labels = {label for name in names if not name.whose.user_id for label in name.path}
    erased = last_erasures(tenant_id=caller.tenant_id, user_ids=labels) if labels else {}
    if any(moment >= now for moment in erased.values()):
        raise Erased("This person's memory was erased meanwhile.")


def _put(caller: Caller, prepared: Sequence[Prepared], now: datetime) -> None:
    if not prepared:
        return
    given = [one.given for one in prepared]
    saved = write_records(caller=caller, given=given, deduplicate=False, now=now)
    ids = [one.episode.id for one in saved.records]
    rows = [_row(caller, one, item.item, now) for one, item in zip(ids, prepared, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(UPSERT.format(columns=", ".join(COLUMNS)), {"rows": json_text(rows), "now": now})
    if before := [one.episode.id for one in saved.records if one.outcome != "created"]:
        ItemVector.objects.filter(tenant_id=caller.tenant_id, item_id__in=before).delete()
    insert_rows(
        [
            row
            for one, item in zip(ids, prepared, strict=True)
            for row in _vector_rows(caller, one, item.item, now)
        ]
    )
    unsaid = [one for one, item in zip(ids, prepared, strict=True) if not item.given.episode.text]
    if unsaid:  # nobody is to find them
        Episode.objects.filter(tenant_id=caller.tenant_id, id__in=unsaid).update(embed_pending=False)


def _delete(caller: Caller, names: Sequence[ItemName]) -> None:
    """With all that they said before."""
    if not names:
        return
    users = {one.whose.user_id for one in names}
    digests = {(one.whose.user_id, one.digest) for one in names}
    found = Item.objects.filter(
        tenant_id=caller.tenant_id, user_id__in=users, digest__in={digest for _user, digest in digests}
    )
    ids = [one for one, *key in found.values_list("id", "user_id", "digest") if tuple(key) in digests]
    mine = Episode.objects.select_for_update().filter(tenant_id=caller.tenant_id, id__in=ids)
    if episodes := list(mine.order_by("id")):
        remove(caller=caller, episodes=episodes)


def _episode(caller: Caller, item: NewItem, visits: Visits, now: datetime) -> Episode:
    if len(json.dumps(item.value, ensure_ascii=False).encode()) > LARGEST_VALUE:
        raise TooLarge(f"The value exceeds {LARGEST_VALUE} bytes of JSON.")
    whose = item.name.whose
    longest = read_policy(tenant_id=caller.tenant_id, agent_id=whose.agent_id).limits.episode_chars
    episode = build_episode(
        caller=caller,
        new=NewEpisode(
            text=text_of(item.value, item.index, longest=longest, visits=visits),
            user_id=whose.user_id,
            agent_id=whose.agent_id,
            project=whose.project,
            namespace=ITEMS_NAMESPACE,
            memory_type=MemoryType.SEMANTIC,
            metadata={"namespace": list(item.name.path), "key": item.name.key},
        ),
        now=now,
    )
    episode.external_id, episode.persisted_at = item.name.external_id, now
    episode.created_at, _updated_at = item.moments(now)
    episode.extraction = {"strategy": ITEM, "config": {}, "from": [], "done": "t"}
    return episode


def _unsaved(caller: Caller, name: ItemName) -> Episode:
    """Where an item stands that is to be deleted."""
    whose = name.whose
    return Episode(
        tenant_id=caller.tenant_id,
        user_id=whose.user_id,
        agent_id=whose.agent_id,
        project=whose.project,
        namespace=ITEMS_NAMESPACE,
    )


def _vectors(texts: Sequence[str], tenant_id: UUID) -> Iterator[NDArray[np.float32]]:
    """The vectors of the texts, or of the first of them, as long as the model answers; the sweeper makes the
    others."""
    for begin in range(0, len(texts), EMBEDDED):
        vectors = try_embed(texts[begin : begin + EMBEDDED], tenant_id=tenant_id)
        if vectors is None:
            return
        yield from vectors


def _row(caller: Caller, episode_id: UUID, item: NewItem, now: datetime) -> dict[str, Any]:
    whose, ttl = item.name.whose, item.ttl_minutes
    created_at, updated_at = item.moments(now)
    return {
        "id": str(episode_id),
        "tenant_id": str(caller.tenant_id),
        "user_id": whose.user_id,
        "agent_id": whose.agent_id,
        "project": whose.project,
        "digest": item.name.digest,
        "path": path_text(item.name.path),
        "key": item.name.key,
        "value": item.value,
        "fields": None if item.index is None else list(item.index),
        "ttl_minutes": ttl,
        "expires_at": None if ttl is None else (now + timedelta(minutes=ttl)).isoformat(),
        "created_at": created_at.isoformat(),
        "updated_at": updated_at.isoformat(),
    }


def _vector_rows(caller: Caller, episode_id: UUID, item: NewItem, now: datetime) -> Iterator[ItemVector]:
    for path, vector in item.vectors:
        yield ItemVector(
            tenant_id=caller.tenant_id,
            item_id=episode_id,
            user_id=item.name.whose.user_id,
            field=path,
            dimensions=len(vector),
            embedding=np.asarray(vector, dtype=np.float32),
            created_at=now,
        )
