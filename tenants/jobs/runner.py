"""Doing jobs: claim, prepare, apply and finish in one commit, again on failure.

Quick jobs of a tenant that were claimed together are applied together. If one of them fails, the common
transaction is rolled back and each runs by itself, so that a bad one harms no other. A job is finished by the
statement that begins its transaction: it locks the row and proves that the lease is still ours.
"""

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from itertools import groupby
from typing import Any, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError

from tenants import log_context
from tenants.errors import Restricted
from tenants.exception_text import describe
from tenants.jobs import leases, querysets, wake
from tenants.jobs.backoff import delay
from tenants.jobs.kinds import GiveUp, LeaseLost, RetryLater, Task, kind_of
from tenants.metrics import count_jobs
from tenants.restrictions import refuse_restricted
from tenants.scope import restricted_shown, scope
from tenants.tombstones import read_standings

log = logging.getLogger(__name__)
TOGETHER = 200  # quick jobs in one claim
RESTRICTED_WAIT = 3_600.0  # seconds, unless the restriction is lifted before
FIRST_TENANT = UUID(int=0)
STRETCH = 5.0  # seconds a call works before it lets other tasks have the thread
LONGEST_REASON = 500
AWAY = ("08", "57P", "58")  # SQLSTATEs of a server that goes, as opposed to one that refuses what was asked

ending = threading.Event()  # the process ends: what runs is finished, nothing new is begun
_slow_places = threading.BoundedSemaphore(settings.JOB_SLOW_THREADS)


def run_jobs(*, slow: bool) -> int:
    """Does the jobs of a lane until none is due or the stretch is over; how many. Then it asks to be called
    again. Slow jobs never take every thread of a process."""
    if slow and not _slow_places.acquire(blocking=False):
        return 0
    try:
        return _run(slow)
    finally:
        if slow:
            _slow_places.release()


def _run(slow: bool) -> int:
    with suppress(IntegrityError):  # a twin was queued just now: next time
        querysets.release_expired()
    until, done, asked = time.monotonic() + STRETCH, 0, False
    after = UUID(int=random.getrandbits(128))  # workers begin at different tenants
    lanes: tuple[querysets.Lane, ...] = ("urgent", "slow") if slow else ("quick",)
    limit = 1 if slow else TOGETHER
    while time.monotonic() < until and not ending.is_set():
        tasks, after = _claim(lanes, after, limit)
        if not tasks:
            return done
        if len(tasks) >= limit // 2 and not asked:
            asked = True
            wake.wake(slow=slow)  # there is probably more: another thread may help
        with leases.kept(tasks, seconds=settings.JOB_LEASE_SECONDS):
            done += _run_claimed(tasks)
    wake.wake(slow=slow)
    return done


def _claim(lanes: Sequence[querysets.Lane], after: UUID, limit: int) -> tuple[list[Task], UUID]:
    """The next jobs of the first lane that has any, and where to go on."""
    for lane in lanes:
        tasks, last = _claim_in(lane, after, limit)
        if tasks:
            return tasks, last
    return [], after


def _claim_in(lane: querysets.Lane, after: UUID, limit: int) -> tuple[list[Task], UUID]:
    """The tenants are gone through at most once."""
    lease, rounds = uuid4(), 0
    while rounds < 2:
        found = querysets.claim(
            lane=lane, after=after, limit=limit, lease=lease, seconds=settings.JOB_LEASE_SECONDS
        )
        if found.tasks:
            return found.tasks, max(map(_tenant_of, found.tasks))
        after = found.last or FIRST_TENANT
        rounds += found.last is None
    return [], after


def _run_claimed(tasks: list[Task]) -> int:
    """Those that are tried for the first time together, tenant by tenant; then the others, each by itself and
    in any order: one that ends the worker must not take the same ones along each time. How many were done."""
    first = sorted((task for task in tasks if task.attempts == 1), key=_tenant_of)
    again = [task for task in tasks if task.attempts > 1]
    random.shuffle(again)
    done = sum(_run_group(list(group)) for _tenant, group in groupby(first, key=_tenant_of))
    return done + sum(_run_one(task) for task in again)


def _tenant_of(task: Task) -> UUID:
    return task.tenant_id


def _run_group(tasks: list[Task]) -> int:
    """The jobs of one tenant; how many were done."""
    if len(tasks) > 1:
        try:
            return _apply(tasks, {}, began=time.monotonic())
        except Exception as error:  # whose fault it was shows when each runs by itself
            if _database_is_away(error):
                raise  # for each of them, too; their lease brings them back
            log.info("jobs_apart: %s", type(error).__name__)
    return sum(_run_one(task) for task in tasks)


def _run_one(task: Task) -> int:
    began = time.monotonic()
    with log_context.bound(tenant=str(task.tenant_id), job_id=str(task.id)), ExitStack() as stack:
        try:
            kind = kind_of(task.kind)
            if kind.sees_restricted:
                stack.enter_context(restricted_shown())
            elif kind.prepare:  # `apply` asks anyway
                refuse_restricted(tenant_id=task.tenant_id, user_id=task.user_id)
            prepared = {task.id: kind.prepare(task)} if kind.prepare else {}
            return _apply([task], prepared, began=began)
        except Restricted:
            with scope(task.tenant_id):
                querysets.put_off(task=task, delay=RESTRICTED_WAIT)
            return 0
        except LeaseLost:
            return 0  # another worker has it, and will say how it went
        except Exception as error:  # the boundary of the process: whatever a kind raises is recorded
            if _database_is_away(error):
                raise
            _record_failure(task, error, began=began)
            return 0


def _apply(tasks: Sequence[Task], prepared: Mapping[UUID, Any], *, began: float) -> int:
    """Finishes the jobs that are still ours and does what they ask for, in one commit; how many."""
    tenant_id = tasks[0].tenant_id
    with scope(tenant_id):
        mine = _finish(tasks)
        people = {task.user_id for task in mine if task.user_id}
        erased = _last_erasures(tenant_id, people, mine) if people else {}
        for task in mine:
            if task.user_id in erased and erased[task.user_id] >= task.since:
                continue
            result = kind_of(task.kind).apply(task, prepared.get(task.id))
            if result is not None and kind_of(task.kind).keep:
                querysets.keep_result(task=task, result=result)
    for name, number in Counter(task.kind for task in mine).items():
        count_jobs(kind=name, outcome="done", seconds=time.monotonic() - began, number=number)
    return len(mine)


def _last_erasures(tenant_id: UUID, people: set[str], mine: Sequence[Task]) -> Mapping[str, datetime]:
    """Raises Restricted when one of the jobs has to wait."""
    found = read_standings(tenant_id=tenant_id, user_ids=people)
    if any(task.user_id in found.restricted and not kind_of(task.kind).sees_restricted for task in mine):
        raise Restricted("This person's memory is restricted.")
    return found.erased


def _finish(tasks: Sequence[Task]) -> list[Task]:
    kept = [task for task in tasks if kind_of(task.kind).keep]
    gone = [task for task in tasks if not kind_of(task.kind).keep]
    ours: set[UUID] = set()
    for some, keep in ((gone, False), (kept, True)):
        if some:
            ours |= querysets.finish(tasks=some, keep=keep)
    return [task for task in tasks if task.id in ours]


def _record_failure(task: Task, error: Exception, *, began: float) -> None:
    """Puts the job off, or among the dead letters."""
    dead = isinstance(error, GiveUp) or task.attempts >= task.max_attempts
    asked = getattr(error, "after", None) or getattr(error, "retry_after", None) or 0.0
    wait = delay(task.attempts, chance=random.random(), at_least=float(asked))  # noqa: S311  jitter
    # What others raise may quote what people said: of that only the kind is told, as in the log.
    reason = str(error) if isinstance(error, GiveUp | RetryLater) else describe(error)
    log.log(
        logging.ERROR if dead else logging.WARNING,
        "job_failed: %s %s attempt=%s dead=%s error=%s",
        task.kind,
        task.id,
        task.attempts,
        dead,
        type(error).__name__,  # not its text, which may quote what people said
    )
    for _attempt in range(2):  # a twin that is queued in this moment is seen the second time
        with suppress(IntegrityError), scope(task.tenant_id):
            querysets.fail(task=task, error=reason[:LONGEST_REASON], dead=dead, delay=wait)
            break
    outcome: Literal["dead", "retried"] = "dead" if dead else "retried"
    count_jobs(kind=task.kind, outcome=outcome, seconds=time.monotonic() - began)


def _database_is_away(error: Exception) -> bool:
    """Whether PostgreSQL did not answer, as opposed to having refused what this one job asked."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return not state or state.startswith(AWAY)
