"""Forgetting: records that are too old, unused for too long, or more than are to be left, go for good.

The oldest are looked at first, in the same order each time. A pinned record stays, whatever its age.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from episodic.conditions import conditions_of, joined, params_of
from episodic.episodes import confine
from episodic.merging import with_sources
from episodic.models import Episode, Origin
from episodic.record_reading import lock_people
from episodic.retraction import remove
from episodic.types import EpisodeFilter
from tenants import idempotency
from tenants.caller import Caller
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import SYSTEM, system_caller

KIND = "records.forget"
BATCH = 200  # records of a commit
LOOKED_AT = 1_000  # records, where the call does not say
EVERY = 2**31

# Recency halves with each 7 days that a record goes unused and with each 30 since it was written. An exponent
# is bounded, since PostgreSQL refuses a power that is too small for it.
JUDGED = """
WITH held AS MATERIALIZED (
    SELECT id, coalesce(nullif(external_id, ''), id::text) AS name, created_at,
           pinned_at IS NULL AND NOT external_id = ANY(%(pinned)s::text[])
           AND NOT id::text = ANY(%(pinned)s::text[])
           AND (%(types)s::text[] IS NULL OR memory_type = ANY(%(types)s::text[])) AS may_go,
           extract(epoch FROM %(now)s::timestamptz - created_at) / 86400 AS age,
           extract(epoch FROM %(now)s::timestamptz - coalesce(
               (SELECT use.last_accessed_at FROM episode_access use
                WHERE use.tenant_id = agent_episodes.tenant_id AND use.id = agent_episodes.id),
               created_at)) / 86400 AS unused
    FROM agent_episodes WHERE tenant_id = %(tenant)s AND origin = 'saved' {conditions}
), judged AS (
    SELECT *, may_go AND coalesce(CASE
        WHEN %(max_age)s::float8 IS NOT NULL AND %(max_unused)s::float8 IS NOT NULL
            THEN age > %(max_age)s * %(multiplier)s::float8
                 OR (age > %(max_age)s AND unused > %(max_unused)s)
        WHEN %(max_age)s::float8 IS NOT NULL THEN age > %(max_age)s
        ELSE unused > %(max_unused)s::float8 END, FALSE) AS is_old
    FROM held
), ranked AS (
    SELECT id, row_number() OVER (ORDER BY
        0.6 * power(2::float8, -least(greatest(unused, 0) / 7, 1000)::float8)
        + 0.4 * power(2::float8, -least(greatest(age, 0) / 30, 1000)::float8) DESC,
        created_at DESC, id DESC) AS place
    FROM judged WHERE may_go AND NOT is_old
), scanned AS (
    SELECT j.id, name, created_at, is_old OR coalesce(place > %(budget)s::bigint, FALSE) AS goes
    FROM judged j LEFT JOIN ranked r ON r.id = j.id ORDER BY created_at, j.id LIMIT %(limit)s
)
SELECT count(*), coalesce(array_agg(id ORDER BY created_at, id) FILTER (WHERE goes), '{{}}'),
       coalesce(array_agg(name ORDER BY created_at, id) FILTER (WHERE goes), '{{}}')
FROM scanned
"""


@dataclass(frozen=True, slots=True)
class ForgetPolicy:
    """What is forgotten; None: nothing for that. With both thresholds, a record goes that is older than
    `max_age_days` and unused for longer than `max_inactive_days`, or older than `hard_age_multiplier` times
    the first; with one of them, by that. Of the others the `budget` most recent stay. `memory_types` are the
    only types that may go."""

    max_age_days: float | None = None
    max_inactive_days: float | None = None
    budget: int | None = None
    memory_types: tuple[str, ...] | None = None
    hard_age_multiplier: float = 12.0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many records were looked at, and how many of them went, or would go, by the ids that clients know,
    oldest first."""

    scanned: int
    deleted: int
    deleted_ids: tuple[str, ...]


def forget_records(
    *,
    caller: Caller,
    policy: ForgetPolicy,
    where: EpisodeFilter,
    pinned_ids: Collection[str] = (),
    limit: int = LOOKED_AT,
    dry_run: bool = True,
    report: Callable[[int], None] = lambda _done: None,
    now: datetime,
) -> Forgotten:
    """Deletes what the policy has forgotten of the saved records that `where` admits, of the oldest `limit`
    of them; `pinned_ids` stay. What is left by the budget is chosen from all of them, whatever the limit.
    Each batch is a commit, of which `report` is told how many went so far; the audit log tells of each
    record. Raises Forbidden, Erased, Restricted."""
    with scope(caller.tenant_id):
        scanned, doomed = _judged(caller, policy, where, pinned_ids, limit, now)
    if not dry_run:
        left = set[UUID]()
        for batch in _batches(list(doomed)):
            left |= _delete(caller, batch, now)
            report(len(left))
        doomed = {one: name for one, name in doomed.items() if one in left}
    done = Forgotten(scanned, len(doomed), tuple(doomed.values()))
    with scope(caller.tenant_id):
        idempotency.keep(done, user_id=caller.confine_user(where.user_id))
    return done


def enqueue_forgetting(*, now: datetime, tenants: Sequence[UUID]) -> int:
    """Records a job for each of these tenants that wants it; how many."""
    return sum(_enqueue(tenant_id, now) for tenant_id in tenants)


def forgetting_kind() -> Kind:
    """The nightly job of one tenant. Doing it again finds what is left."""

    def prepare(task: Task) -> dict[str, int]:
        policy, deleted = nightly_policy(read_policy(tenant_id=task.tenant_id)), 0
        if policy is not None:
            deleted = forget_records(
                caller=system_caller(task.tenant_id),
                policy=policy,
                where=EpisodeFilter(),
                limit=EVERY,
                dry_run=False,
                report=lambda done: progress.report(task, done=done),
                now=timezone.now(),
            ).deleted
        return {"deleted": deleted}

    def apply(_task: Task, prepared: dict[str, int]) -> Mapping[str, Any]:
        return prepared

    return Kind(KIND, apply, prepare=prepare, slow=True, keep=True)


def nightly_policy(policy: Policy) -> ForgetPolicy | None:
    """What the tenant has forgotten every night; None: nothing."""
    chosen = policy.records
    if not chosen.forgetting or not (chosen.max_age_days or chosen.max_inactive_days or chosen.budget):
        return None
    return ForgetPolicy(
        max_age_days=chosen.max_age_days or None,
        max_inactive_days=chosen.max_inactive_days or None,
        budget=chosen.budget or None,
    )


def _enqueue(tenant_id: UUID, now: datetime) -> bool:
    if nightly_policy(read_policy(tenant_id=tenant_id)) is None:
        return False
    with scope(tenant_id):
        enqueue(KIND, payload={}, now=now, requested_by=SYSTEM, dedup_key=KIND)
    return True


def _judged(
    caller: Caller,
    policy: ForgetPolicy,
    where: EpisodeFilter,
    pinned_ids: Collection[str],
    limit: int,
    now: datetime,
) -> tuple[int, dict[UUID, str]]:
    """How many were looked at, and the clients' ids of those that go, the oldest first. In the open scope."""
    where = confine(caller, where).narrowed()
    params: dict[str, Any] = params_of(where) | {
        "tenant": caller.tenant_id,
        "pinned": list(pinned_ids),
        "types": None if policy.memory_types is None else list(policy.memory_types),
        "max_age": policy.max_age_days,
        "max_unused": policy.max_inactive_days,
        "multiplier": policy.hard_age_multiplier,
        "budget": policy.budget,
        "limit": limit,
        "now": now,
    }
    subject, further = conditions_of(where, params)
    with connection.cursor() as cursor:
        cursor.execute(JUDGED.format(conditions=joined(subject + further)), params)
        scanned, ids, names = cursor.fetchone()
    return scanned, dict(zip(ids, names, strict=True))


def _batches(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for begin in range(0, len(ids), BATCH):
        yield ids[begin : begin + BATCH]


def _delete(caller: Caller, ids: Sequence[UUID], now: datetime) -> set[UUID]:
    """Deletes those of them that nobody has pinned or taken back meanwhile, with what they were made of."""
    mine = Episode.objects.filter(
        tenant_id=caller.tenant_id, id__in=ids, pinned_at=None, valid_to=None, origin=Origin.SAVED
    )
    with scope(caller.tenant_id):
        lock_people(caller, list(mine.only("user_id", "agent_id", "project", "namespace")), now)
        held = list(mine.select_for_update().order_by("id"))
        gone = {source.id: source for one in held for source in with_sources(one)}
        remove(caller=caller, episodes=list(gone.values()), reason="forgotten")
    return {one.id for one in held}
