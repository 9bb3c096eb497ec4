"""How long the recalls of each tenant take: counted in the process by tenant and hour, and written every few
seconds. What is scraped from `/metrics` knows no tenants and begins anew with each process."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import DataError, Error, IntegrityError

from ledger import querysets
from ledger.models import RecallHour
from tenants.router import admin_role
from tenants.scope import rehearses, scope, undecided
from tenants.write_behind import WriteBehind

log = logging.getLogger(__name__)
BOUNDS = (2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_500, 5_000)  # milliseconds
MOST = 10_000  # tenants' hours that wait; what more is recalled before they are written is not counted
KEPT = timedelta(days=90)
DELETED_TOGETHER = 5_000

Account = tuple[UUID, datetime]


@dataclass(frozen=True, slots=True)
class HourOfRecalls:
    """The recalls of one hour, or more; times in milliseconds, None without any recall."""

    hour: datetime
    count: int
    p50: float | None
    p95: float | None


def note_recall(*, tenant_id: UUID, seconds: float, now: datetime) -> None:
    """A recall took so long. Nothing is written here: it is within seconds."""
    if not rehearses():
        _tally.add((tenant_id, _hour(now)), seconds * 1_000)


def flush() -> None:
    """Writes what this process has counted, at once. Raises Error, and keeps what is left."""
    _tally.flush()


def recalls_by_hour(*, tenant_id: UUID, since: datetime) -> list[HourOfRecalls]:
    """The hours since then in which the tenant had any recall, oldest first."""
    with scope(tenant_id):
        rows = RecallHour.objects.filter(tenant_id=tenant_id, hour__gte=_hour(since)).order_by("hour")
        return [figures_of(row.hour, row.buckets) for row in rows]


def figures_of(hour: datetime, buckets: Sequence[int]) -> HourOfRecalls:
    """What the buckets say."""
    return HourOfRecalls(hour, sum(buckets), quantile(buckets, 0.5), quantile(buckets, 0.95))


def quantile(buckets: Sequence[int], share: float) -> float | None:
    """The time that this share of the recalls stayed below, by interpolation within its bucket; what took
    longer than the last bound is taken to have taken that. None without any recall."""
    rest = share * sum(buckets)
    if not rest:
        return None
    low = 0.0
    for count, high in zip(buckets, BOUNDS, strict=False):
        if count and rest <= count:
            return low + (high - low) * rest / count
        rest, low = rest - count, float(high)
    return low


def expire_recalls(*, now: datetime) -> int:
    """Deletes accounts older than `KEPT`; how many. A named cross-tenant job."""
    deleted = 0
    with admin_role():
        while True:
            old = RecallHour.objects.filter(hour__lt=now - KEPT).values_list("id", flat=True)
            count, _ = RecallHour.objects.filter(id__in=list(old[:DELETED_TOGETHER])).delete()
            deleted += count
            if count < DELETED_TOGETHER:
                return deleted


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


class Tally(WriteBehind):
    """`write` adds to one account, or raises."""

    name = "recall_latency"

    def __init__(self, write: Callable[[Account, Sequence[int]], None]) -> None:
        self._write = write
        super().__init__()

    def add(self, account: Account, milliseconds: float) -> None:
        """Counts it; written within seconds."""
        with self._lock:
            if account not in self._waiting and len(self._waiting) >= MOST:
                return
            buckets = self._waiting.setdefault(account, [0] * (len(BOUNDS) + 1))
            buckets[bisect_left(BOUNDS, milliseconds)] += 1
        self._wake()

    def _clear(self) -> None:
        self._waiting: dict[Account, list[int]] = {}

    def _is_left(self) -> bool:
        return bool(self._waiting)

    def _flush(self) -> None:
        for account in list(self._waiting):
            with self._lock:
                buckets = self._waiting.pop(account)
            try:
                self._write(account, buckets)
            except (IntegrityError, DataError) as error:  # the tenant is gone
                log.info("recall_latency_dropped: %s", type(error).__name__)
            except BaseException:
                self._keep(account, buckets)
                raise

    def _keep(self, account: Account, buckets: Sequence[int]) -> None:
        with self._lock:
            since = self._waiting.get(account, [0] * len(buckets))
            self._waiting[account] = [was + more for was, more in zip(buckets, since, strict=True)]


def _write(account: Account, buckets: Sequence[int]) -> None:
    """Raises Error when nothing was written. If nobody knows, it may be missing: it is not counted twice."""
    tenant_id, hour = account
    is_asked = False
    try:
        with scope(tenant_id):
            querysets.add_recalls(tenant_id=tenant_id, hour=hour, buckets=buckets)
            is_asked = True  # from here on, only the commit can fail
    except Error as error:
        if not (is_asked and undecided(error)):
            raise
        log.warning("recall_latency_in_doubt: %s", type(error).__name__)


_tally = Tally(_write)
_tally.register()
