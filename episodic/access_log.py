"""Which episodes were recalled, noted in the process and written every few seconds: recalls that found the
same do not wait for one another. Nothing but these figures depends on them."""

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.db import DataError, IntegrityError

from tenants.write_behind import WriteBehind

log = logging.getLogger(__name__)
APART = 900  # seconds in which a further access of the same episode changes nothing
MOST_WAITING = 10_000  # episodes; what more are recalled before these are written is not noted
MOST_NOTED = 100_000  # episodes of which it is remembered that they were noted
BATCH = 1_000
TRIES = 3  # of a batch of which episodes are deleted meanwhile

Accesses = dict[UUID, datetime]


class AccessLog(WriteBehind):
    """`write` stores the accesses of one tenant in one transaction, or raises."""

    name = "episode_access"

    def __init__(self, write: Callable[[UUID, Mapping[UUID, datetime]], None]) -> None:
        self._write = write
        super().__init__()

    def add(self, tenant_id: UUID, ids: Iterable[UUID], at: datetime) -> None:
        """Notes them; written within seconds."""
        moment = at.timestamp()
        with self._lock:
            new = [one for one in ids if abs(moment - self._noted.get(one, 0.0)) >= APART]
            new = new[: MOST_WAITING - self._count]
            if not new:
                return
            if len(self._noted) + len(new) > MOST_NOTED:
                self._noted.clear()  # some are written once more, which changes nothing
            self._noted.update(dict.fromkeys(new, moment))
            self._keep(tenant_id, dict.fromkeys(new, at))
        self._wake()

    def _clear(self) -> None:
        self._waiting: dict[UUID, Accesses] = {}
        self._count = 0
        self._noted: dict[UUID, float] = {}

    def _is_left(self) -> bool:
        return bool(self._waiting)

    def _flush(self) -> None:
        while (taken := self._take()) is not None:
            tenant_id, accesses = taken
            try:
                self._write_rest(tenant_id, accesses)
            except (IntegrityError, DataError) as error:
                log.info("episode_access_dropped: %s", type(error).__name__)
            except BaseException:
                with self._lock:
                    self._keep(tenant_id, accesses)
                raise

    def _write_rest(self, tenant_id: UUID, accesses: Accesses) -> None:
        """An episode that is deleted while the statement runs fails it, for all of the batch. The next try
        does not find that one any more."""
        for left in reversed(range(TRIES)):
            try:
                self._write(tenant_id, accesses)
                break
            except IntegrityError:
                if not left:
                    raise

    def _keep(self, tenant_id: UUID, accesses: Accesses) -> None:
        mine = self._waiting.setdefault(tenant_id, {})
        before = len(mine)
        mine.update(accesses)
        self._count += len(mine) - before

    def _take(self) -> tuple[UUID, Accesses] | None:
        """Some accesses of one tenant; None when nothing waits."""
        with self._lock:
            if not self._waiting:
                return None
            tenant_id, mine = next(iter(self._waiting.items()))
            taken = {one: mine.pop(one) for one in list(islice(mine, BATCH))}
            if not mine:
                del self._waiting[tenant_id]
            self._count -= len(taken)
        return tenant_id, taken
