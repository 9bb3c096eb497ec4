"""Compaction: records that say the same as another go, and those that say it in other words become one.

What comes in is compared when it is saved; this finds what was saved without the model or without being
compared. Each step is a commit of its own: what is cut off goes on the next time.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, Q
from django.utils import timezone

from episodic import nearest
from episodic.episodes import reach
from episodic.inserting import insert_episode
from episodic.likeness import nearest_to_each
from episodic.merging import (
    Entry,
    covers,
    is_mergeable,
    keep_taken_in,
    merge,
    merged_ids,
    stands_alone,
    stored_vectors,
    take_in,
    united_access,
)
from episodic.models import ITEM, ITEMS_NAMESPACE, Episode, EpisodeAccess, Origin
from episodic.record_neighbours import NEIGHBOURS, SPARE, memory_like
from episodic.record_reading import lock_people
from episodic.superseding import close
from episodic.types import EpisodeFilter
from tenants import idempotency
from tenants.caller import Caller
from tenants.generations import model_of
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import SYSTEM, system_caller

KIND = "records.compact"
PAGE = 1_000  # records that a run looks at
# What came in earlier has been looked at; a worker that was away for some nights finds the rest.
SINCE = timedelta(days=7)
GROUP = ("user_id", "agent_id", "project", "namespace", "session", "memory_type", "content_hash", "text")


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many went since another says the same, how many became part of one, how many records hold now of
    all that were asked about; and where to go on, None at the end."""

    duplicates: int
    merged: int
    remaining: int
    next: UUID | None = None


def compact_records(
    *,
    caller: Caller,
    namespace: str | None = None,
    user_id: str | None = None,
    limit: int = PAGE,
    after: UUID | None = None,
    since: datetime | None = None,
    now: datetime,
) -> Compacted:
    """Compacts the records of a user, of a namespace or of all within the key's reach: of those that are word
    for word the same the newest stays, and of up to `limit` others, `after` that one and saved or edited
    `since` then, each is compared with the nearest (`records.compaction_distance`). Raises Forbidden."""
    distance = read_policy(tenant_id=caller.tenant_id).records.compaction_distance
    mine = _mine(caller, namespace, caller.confine_user(user_id))
    with scope(caller.tenant_id):
        groups = list(_groups(mine, limit)) if after is None else []
    duplicates = sum(_close_all_but_newest(caller, mine & Q(**group), now) for group in groups)
    with scope(caller.tenant_id):
        page = _page(mine, after, since, limit) if distance else []
        promising = _promising(caller, page, distance)
    merged = sum(_compacted(caller, one, distance, now) for one in promising)
    with scope(caller.tenant_id):
        done = Compacted(
            duplicates,
            merged,
            Episode.objects.filter(mine).count(),
            page[-1].id if len(page) == limit else None,
        )
        idempotency.keep(done, user_id=caller.confine_user(user_id))
    return done


def enqueue_compaction(*, now: datetime, tenants: Sequence[UUID]) -> int:
    """Records a job for each of these tenants that wants it and has records; how many."""
    return sum(_enqueue(tenant_id, now) for tenant_id in tenants)


def compaction_kind() -> Kind:
    """The nightly job of one tenant. Doing it again finds what is left."""

    def prepare(task: Task) -> dict[str, int]:
        caller, now = system_caller(task.tenant_id), timezone.now()
        done = {"duplicates": 0, "merged": 0}
        after: UUID | None = None
        while True:
            run = compact_records(caller=caller, after=after, since=now - SINCE, now=timezone.now())
            done = {name: count + getattr(run, name) for name, count in done.items()}
            progress.report(task, done=sum(done.values()))
            if (after := run.next) is None:
                return done

    def apply(_task: Task, prepared: dict[str, int]) -> Mapping[str, Any]:
        return prepared

    return Kind(KIND, apply, prepare=prepare, slow=True, keep=True)


def _enqueue(tenant_id: UUID, now: datetime) -> bool:
    if not read_policy(tenant_id=tenant_id).records.compaction:
        return False
    with scope(tenant_id):
        is_due = Episode.objects.filter(_mine(system_caller(tenant_id), None, "")).exists()
        if is_due:
            enqueue(KIND, payload={}, now=now, requested_by=SYSTEM, dedup_key=KIND)
    return is_due


def _mine(caller: Caller, namespace: str | None, user_id: str) -> Q:
    """The records that clients have named and that hold; items of the store stay as they were put."""
    mine = reach(caller) & ~Q(external_id="") & Q(origin=Origin.SAVED, valid_to=None)
    mine &= ~Q(namespace=ITEMS_NAMESPACE, extraction__strategy=ITEM)
    if namespace is not None:
        mine &= Q(namespace=namespace)
    return mine & Q(user_id=user_id) if user_id else mine


def _groups(mine: Q, limit: int) -> Iterator[dict[str, Any]]:
    """What more than one record says, word for word."""
    same = Episode.objects.filter(mine).values(*GROUP).annotate(n=Count("id")).filter(n__gt=1)
    for row in same.order_by(*GROUP)[:limit]:
        yield {name: row[name] for name in GROUP}


def _close_all_but_newest(caller: Caller, same: Q, now: datetime) -> int:
    with scope(caller.tenant_id):
        lock_people(caller, list(Episode.objects.filter(same)[:1]), now)
        found = Episode.objects.select_for_update(no_key=True).filter(same).order_by("created_at", "id")
        rows = [one for one in found if not stands_alone(one)]
        if not rows:
            return 0
        *older, newest = rows
        ids = [one.id for one in older]
        return close(Episode.objects.filter(tenant_id=caller.tenant_id, id__in=ids), at=now, by=newest.id)


def _page(mine: Q, after: UUID | None, since: datetime | None, limit: int) -> list[Episode]:
    found = Episode.objects.filter(mine, embed_pending=False)
    if after is not None:
        found = found.filter(id__gt=after)
    if since is not None:
        found = found.filter(Q(persisted_at__gte=since) | Q(updated_at__gte=since))
    return list(found.order_by("id")[:limit])


def _promising(caller: Caller, page: Sequence[Episode], distance: float) -> list[Episode]:
    """Those that may say the same as what is near to them: others need no look of their own. In the open
    scope; what becomes of one is decided under its lock."""
    vectors = stored_vectors(caller, [one.id for one in page])
    memories: dict[EpisodeFilter, list[Episode]] = defaultdict(list)
    for one in page:
        if one.id in vectors:
            memories[memory_like(one)].append(one)
    found: list[Episode] = []
    for where, some in memories.items():
        near = nearest_to_each(
            tenant_id=caller.tenant_id,
            model=model_of(caller.tenant_id),
            vectors=np.stack([vectors[one.id] for one in some]),
            where=where,
            limit=NEIGHBOURS + 1 + SPARE,
        )
        found += some if near is None else _covering(caller, some, near, distance)
    return sorted(found, key=lambda one: one.id)


def _covering(
    caller: Caller, some: Sequence[Episode], near: Sequence[Mapping[UUID, float]], distance: float
) -> Iterator[Episode]:
    """Those that say all that one near to them says, or the other way round."""
    alike = [[one for one, cosine in cosines.items() if cosine >= 1 - distance] for cosines in near]
    ids = {one for row in alike for one in row}
    rows = {one.id: one for one in Episode.objects.filter(reach(caller), ~Q(external_id=""), id__in=ids)}
    for one, row in zip(some, alike, strict=True):
        others = [rows[other] for other in row if other in rows and other != one.id]
        if any(covers(one, other) or covers(other, one) for other in others):
            yield one


def _compacted(caller: Caller, seen: Episode, distance: float, now: datetime) -> int:
    """How many became part of another, or one with others, since they are near to this one."""
    with scope(caller.tenant_id):
        near = _near(caller, seen, distance)
        if not any(covers(one, seen) or covers(seen, one) for one in near):
            return 0
        lock_people(caller, [seen], now)
        rows = Episode.objects.select_for_update(no_key=True).filter(
            reach(caller), id__in=[seen.id, *(one.id for one in near)]
        )
        held = {one.id: one for one in rows.order_by("id")}
        one = held.pop(seen.id, None)
        if one is None or not is_mergeable(one):  # merged with one before it, or changed meanwhile
            return 0
        others = [held[row.id] for row in near if row.id in held]
        fullest = next((row for row in others if covers(row, one)), one)
        said = [row for row in (one, *others) if row.id != fullest.id and covers(fullest, row)]
        return _store(caller, fullest, said, now) if said else 0


def _near(caller: Caller, seen: Episode, distance: float) -> list[Episode]:
    """What holds in the same memory and is near in meaning, the nearest first."""
    vector = stored_vectors(caller, [seen.id]).get(seen.id)
    if vector is None:
        return []
    found = nearest.nearest_ids(
        tenant_id=caller.tenant_id,
        model=model_of(caller.tenant_id),
        vector=vector,
        where=memory_like(seen),
        limit=NEIGHBOURS + 1,
    )
    ids = [one for one, cosine in found.items() if one != seen.id and cosine >= 1 - distance]
    rows = Episode.objects.filter(reach(caller), ~Q(external_id=""), id__in=ids)
    by_id = {one.id: one for one in rows}
    return [by_id[one] for one in ids if one in by_id]


def _store(caller: Caller, fullest: Episode, others: Sequence[Episode], now: datetime) -> int:
    """Has the fullest stand for the others if it is made of several already, else a new one for all."""
    sources = list(others) if merged_ids(fullest) else [fullest, *others]
    ids = [one.id for one in sources]
    if merged_ids(fullest):
        for one in others:
            take_in(fullest, one, now)
        whole = fullest
        keep_taken_in(whole)
    else:
        vector = stored_vectors(caller, [fullest.id]).get(fullest.id)
        entries = [Entry(one, None) for one in others]
        whole = merge(fullest=Entry(fullest, vector), others=entries, now=now).episode
        insert_episode(whole, vector)
        if (used := united_access(caller.tenant_id, ids)) is not None:
            EpisodeAccess.objects.create(
                id=whole.id,
                tenant_id=caller.tenant_id,
                user_id=whole.user_id,
                agent_id=whole.agent_id,
                last_accessed_at=used[0],
                access_count=used[1],
            )
    return close(Episode.objects.filter(tenant_id=caller.tenant_id, id__in=ids), at=now, by=whole.id)
