"""Retention: what sessions left behind goes when the tenant's, or the agent's, policy says so.

Episodes of sessions go `retention.episodes_days` after they were written, those that hold no more as well;
what was saved on purpose or pinned stays. Summaries that such episodes are part of go with them, and are made
again without. Events go `retention.events_days` after they were recorded once a
summary covers them, and without one when they are also older than an episode may become. Each batch is a
commit of its own: what is cut off goes on where it was.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from episodic.metrics import RETENTION_DELETED
from episodic.retention_queries import (
    BEGINNING,
    OldEpisodes,
    count_episodes,
    delete_episodes,
    has_episodes,
    oldest_episode,
)
from episodic.summary_retiring import has_passed, retire_passed
from tenants import audit
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.models import Tenant
from tenants.policy.reading import read_policy
from tenants.router import admin_role
from tenants.scope import scope
from tenants.system import SYSTEM
from working.quiet import agents_of
from working.retention import (
    OldEvents,
    count_events,
    delete_events,
    forget_states,
    has_events,
    has_states_over,
    oldest_event,
)

log = logging.getLogger(__name__)
KIND = "retention"
BATCH = 5_000  # rows of a commit
SUMMARIES = 500  # likewise, each with a job

Batch = Callable[[datetime, int], tuple[int, int, datetime | None]]


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """How many rows went, or would go, and since when there is something that will go one day."""

    tenant: str
    episodes: int
    events: int
    oldest_left: dict[str, str | None]
    dry_run: bool

    def shown(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def expire_memory(
    *,
    tenant_id: UUID,
    tenant: str,
    actor: str,
    now: datetime,
    dry_run: bool = False,
    report: Callable[[int], None] = lambda _done: None,
) -> RetentionReport:
    """Deletes what is too old of one tenant, or with `dry_run` only counts it. `report` is told after each
    batch how many rows went so far; what it raises ends the work. The audit log tells what went."""
    done = {"episodes": 0, "events": 0}
    for episodes, events in _expired(tenant_id, now):
        if dry_run:
            with scope(tenant_id):
                done["episodes"] += count_episodes(episodes)
                done["events"] += count_events(events)
            continue
        for kind, batch in (("episodes", _episodes(episodes)), ("events", _events(events))):
            for deleted in _batches(tenant_id, batch):
                RETENTION_DELETED.labels(kind).inc(deleted)
                done[kind] += deleted
                report(sum(done.values()))
        _retire_summaries(episodes, now)
    if not dry_run:
        _forget_states(tenant_id, now)
    return _concluded(tenant_id, tenant, actor, done, dry_run)


def enqueue_retention(*, now: datetime, tenants: Sequence[UUID] | None = None) -> int:
    """Records a job for each tenant, or each of those, that has something too old; how many. A named
    cross-tenant job."""
    chosen = every_tenant() if tenants is None else tenants
    return sum(_enqueue(tenant_id, now) for tenant_id in chosen)


def every_tenant() -> list[UUID]:
    """The tenants that the nightly jobs are for. Asks as the admin role."""
    with admin_role():
        return list(Tenant.objects.order_by("id").values_list("id", flat=True))


def retention_kind() -> Kind:
    """The job of one tenant. Its result is the report; doing it again finds what is left."""

    def prepare(task: Task) -> RetentionReport:
        with admin_role():
            slug = Tenant.objects.values_list("slug", flat=True).get(id=task.tenant_id)
        return expire_memory(
            tenant_id=task.tenant_id,
            tenant=slug,
            actor=SYSTEM,
            now=timezone.now(),
            report=lambda done: progress.report(task, done=done),
        )

    def apply(task: Task, prepared: RetentionReport) -> dict[str, Any]:
        return prepared.shown()

    return Kind(KIND, apply, prepare=prepare, slow=True, keep=True)


def _enqueue(tenant_id: UUID, now: datetime) -> bool:
    expired = list(_expired(tenant_id, now))
    with scope(tenant_id):
        is_due = any(has_episodes(episodes) or has_events(events) for episodes, events in expired)
        is_due = is_due or any(has_passed(episodes) for episodes, _events in expired)
        is_due = is_due or has_states_over(tenant_id=tenant_id, now=now)
        if is_due:
            enqueue(KIND, payload={}, now=now, requested_by=SYSTEM, dedup_key=KIND)
    return is_due


def _expired(tenant_id: UUID, now: datetime) -> Iterator[tuple[OldEpisodes, OldEvents]]:
    """What is too old by the tenant's policy, and by that of agents that have decided otherwise."""
    default = read_policy(tenant_id=tenant_id).retention
    otherwise = defaultdict(list)
    for agent_id in filter(None, agents_of(tenant_id)):
        own = read_policy(tenant_id=tenant_id, agent_id=agent_id).retention
        if own != default:
            otherwise[own.episodes_days, own.events_days].append(agent_id)
    others = [agent_id for agents in otherwise.values() for agent_id in agents]
    levels = [((default.episodes_days, default.events_days), others, False)]
    levels += [(days, agents, True) for days, agents in otherwise.items()]
    for (episodes_days, events_days), agents, listed in levels:
        before, events_before = (now - timedelta(days=days) for days in (episodes_days, events_days))
        yield (
            OldEpisodes(tenant_id, before, agents, listed),
            OldEvents(tenant_id, events_before, before, agents, listed),
        )


def _episodes(old: OldEpisodes) -> Batch:
    return lambda after, limit: delete_episodes(old, after=after, limit=limit)


def _events(old: OldEvents) -> Batch:
    return lambda after, limit: delete_events(old, after=after, limit=limit)


def _batches(tenant_id: UUID, batch: Batch) -> Iterator[int]:
    """How many rows each batch deleted. Each begins where the one before ended: from the beginning, the index
    would show it everything that has just been deleted."""
    after = BEGINNING
    while True:
        with scope(tenant_id):
            deleted, found, last = batch(after, BATCH)
        yield deleted
        if found < BATCH or last is None:
            return
        after = last


def _retire_summaries(episodes: OldEpisodes, now: datetime) -> None:
    """They are made again, and not counted."""
    retired = SUMMARIES
    while retired == SUMMARIES:
        with scope(episodes.tenant_id):
            retired = retire_passed(episodes, now=now, limit=SUMMARIES)


def _forget_states(tenant_id: UUID, now: datetime) -> None:
    """What was kept with sessions whose hold is over is shown to nobody; it is not counted."""
    forgotten = BATCH
    while forgotten == BATCH:
        with scope(tenant_id):
            forgotten = forget_states(tenant_id=tenant_id, now=now, limit=BATCH)


def _concluded(
    tenant_id: UUID, tenant: str, actor: str, done: dict[str, int], dry_run: bool
) -> RetentionReport:
    with scope(tenant_id):
        oldest = {"episodes": oldest_episode(tenant_id), "events": oldest_event(tenant_id)}
        left = {kind: moment.isoformat() if moment else None for kind, moment in oldest.items()}
        if any(done.values()) and not dry_run:
            audit.record(tenant_id=tenant_id, actor=actor, action=KIND, target=tenant, **done)
    found = RetentionReport(tenant, done["episodes"], done["events"], left, dry_run)
    log.info(
        "retention: episodes=%s events=%s oldest_episode=%s oldest_event=%s dry_run=%s",
        found.episodes,
        found.events,
        left["episodes"],
        left["events"],
        dry_run,
    )
    return found
