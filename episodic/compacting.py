"""Compaction: records that say the same as another go, and those that say it in other words become one.

What comes in is compared when it is saved; this finds what was saved without the model or without being
compared. Each step is a commit of its own: what is cut off goes on the next time.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    together,
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
PAGE = 1_000  # records, or texts that several say, that are looked at together
MOST_COMPARED = 10_000  # of either that one call looks at, unless it says how many
PATIENCE = 20.0  # seconds after which one call goes no further, unless it says otherwise
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
    limit: int = MOST_COMPARED,
    after: UUID | None = None,
    since: datetime | None = None,
    patience: float = PATIENCE,
    now: datetime,
) -> Compacted:
    """Compacts the records of a user, of a namespace or of all within the key's reach: those that are word
    for word the same become one, of up to `MOST_COMPARED` texts; and of the others the `limit` that were
    saved last, before `after` was and saved or edited `since` then, are each compared with the nearest
    (`records.compaction_distance`). After `patience` seconds it does no more than one thing of either kind:
    what is left is for the next call. Raises Forbidden."""
    distance = read_policy(tenant_id=caller.tenant_id).records.compaction_distance
    mine = _mine(caller, namespace, caller.confine_user(user_id))
    end = time.monotonic() + patience
    duplicates = _unite_same(caller, mine, end, now) if after is None else 0
    pages = _pages(caller, mine, distance, (after, since, limit)) if distance else ()
    merged, left = _merge_alike(caller, pages, distance, end, now)
    with scope(caller.tenant_id):
        done = Compacted(duplicates, merged, Episode.objects.filter(mine).count(), left)
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
            run = compact_records(
                caller=caller,
                limit=PAGE,
                after=after,
                since=now - SINCE,
                patience=math.inf,
                now=timezone.now(),
            )
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


def _unite_same(caller: Caller, mine: Q, end: float, now: datetime) -> int:
    """Has one record say what several say word for word; how many went. Those that stand alone, or that
    somebody has taken apart, stay."""
    duplicates = 0
    for _page in range(0, MOST_COMPARED, PAGE):
        with scope(caller.tenant_id):
            groups = list(_groups(mine))
        before = duplicates
        for group in groups:
            duplicates += _united(caller, mine & Q(**group), now)
            if time.monotonic() >= end:
                return duplicates
        if duplicates == before or len(groups) < PAGE:
            break
    return duplicates


def _groups(mine: Q) -> Iterator[dict[str, Any]]:
    """What more than one record says, word for word."""
    same = Episode.objects.filter(mine).values(*GROUP).annotate(n=Count("id")).filter(n__gt=1)
    for row in same.order_by(*GROUP)[:PAGE]:
        yield {name: row[name] for name in GROUP}


def _united(caller: Caller, same: Q, now: datetime) -> int:
    with scope(caller.tenant_id):
        lock_people(caller, list(Episode.objects.filter(same)[:1]), now)
        found = Episode.objects.select_for_update(no_key=True).filter(same).order_by("id")
        newest_first = sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)
        rows = together(Entry(one, None) for one in newest_first if not stands_alone(one))
        if len(rows) < 2:
            return 0
        # One that is made of several already takes the others in, else each night would make one of the last.
        fullest = next((row for row in rows if merged_ids(row.episode)), rows[0]).episode
        others = [row.episode for row in rows if row.episode is not fullest]
        _store(caller, fullest, others, now)
        return len(others)


def _merge_alike(
    caller: Caller,
    pages: Iterable[tuple[list[Episode], UUID | None]],
    distance: float,
    end: float,
    now: datetime,
) -> tuple[int, UUID | None]:
    """How many became part of another; and where to go on, None at the end."""
    merged, left = 0, None
    for promising, following in pages:
        for one in promising:
            merged += _compacted(caller, one, distance, now)
            if time.monotonic() >= end:
                return merged, one.id
        left = following
        if time.monotonic() >= end:
            break
    return merged, left


def _pages(
    caller: Caller, mine: Q, distance: float, asked: tuple[UUID | None, datetime | None, int]
) -> Iterator[tuple[list[Episode], UUID | None]]:
    """Of each page of those that are asked about the promising, and after which record the next page begins,
    if there may be one; the newest first."""
    after, since, limit = asked
    found = Episode.objects.filter(mine, embed_pending=False)
    if since is not None:
        found = found.filter(Q(persisted_at__gte=since) | Q(updated_at__gte=since))
    while limit:
        wanted = min(limit, PAGE)
        with scope(caller.tenant_id):
            older = found if after is None else found.filter(id__lt=after)
            page = list(older.order_by("-id")[:wanted])
            promising = _promising(caller, page, distance)
        after = page[-1].id if len(page) == wanted else None
        limit = limit - wanted if after else 0
        yield promising, after


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
    return sorted(found, key=lambda one: one.id, reverse=True)


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
    """Has the fullest stand for the others if it is made of several already, else a new one for all; how many
    were closed."""
    if merged_ids(fullest):
        whole, sources = fullest, list(others)
        take_in(whole, others, now)
        keep_taken_in(whole)
    else:
        sources = [fullest, *others]
        vector = stored_vectors(caller, [fullest.id]).get(fullest.id)
        whole = merge(
            fullest=Entry(fullest, vector), others=[Entry(one, None) for one in others], now=now
        ).episode
        insert_episode(whole, vector)
    ids = [one.id for one in sources]
    _unite_accesses(whole, sources)
    return close(Episode.objects.filter(tenant_id=caller.tenant_id, id__in=ids), at=now, by=whole.id)


def _unite_accesses(whole: Episode, sources: Sequence[Episode]) -> None:
    """It is as old as the oldest; that it was said again later counts as use."""
    said_at = max(one.created_at for one in sources)
    again = [(said_at, 0)] if said_at > whole.created_at else []
    used = united_access(whole.tenant_id, [whole.id, *(one.id for one in sources)], again)
    if used is None:
        return
    EpisodeAccess.objects.update_or_create(
        id=whole.id,
        tenant_id=whole.tenant_id,
        defaults={
            "user_id": whole.user_id,
            "agent_id": whole.agent_id,
            "last_accessed_at": used[0],
            "access_count": used[1],
        },
    )
