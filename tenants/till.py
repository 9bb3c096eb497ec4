"""What tenants spend, added up in the process and written every few seconds: recalls that pay for the same
model do not wait for one another."""

import logging
from collections.abc import Callable, Sequence
from datetime import date
from uuid import UUID

from django.db import DataError, IntegrityError

from providers.metering import Meter, Usage
from tenants.write_behind import WriteBehind

log = logging.getLogger(__name__)
MOST = 10_000  # tenants' days that wait; what more are spent is told to the log and not counted

Account = tuple[UUID, date]


class Undecided(Exception):
    """The answer to a commit was lost. `transaction` is its number, by which PostgreSQL tells its end."""

    def __init__(self, transaction: str) -> None:
        super().__init__("The answer to the commit was lost.")
        self.transaction = transaction


class Till(WriteBehind):
    """`write` commits an account in one transaction, or raises; Undecided when nobody knows which. Then
    `is_committed` tells, None while the transaction is open. Nothing is counted twice."""

    name = "provider_usage"

    def __init__(
        self,
        write: Callable[[UUID, date, Sequence[Usage]], None],
        is_committed: Callable[[str], bool | None],
    ) -> None:
        self._write, self._is_committed = write, is_committed
        super().__init__()

    def add(self, tenant_id: UUID, day: date, used: Sequence[Usage]) -> None:
        """Counts it; written within seconds."""
        self._add((tenant_id, day), used)
        self._wake()

    def close(self) -> None:
        """Also tells the log how much it was that is not written."""
        try:
            super().close()
        except Undecided:
            log.warning("provider_usage_not_written: the answer to the last commit was lost")
        for account in list(self._sums):
            _tell_lost(account, self._sums.pop(account).totals())
        if self._doubt:
            _transaction, account, used = self._doubt
            _tell_lost(account, used)

    def _clear(self) -> None:
        self._sums: dict[Account, Meter] = {}
        self._doubt: tuple[str, Account, list[Usage]] | None = None

    def _is_left(self) -> bool:
        return bool(self._sums or self._doubt)

    def _flush(self) -> None:
        """Raises Undecided as well."""
        if not self._settle_doubt():
            return
        for account in list(self._sums):
            with self._lock:
                used = self._sums.pop(account).totals()
            self._flush_one(account, used)

    def _add(self, account: Account, used: Sequence[Usage]) -> None:
        with self._lock:
            is_full = account not in self._sums and len(self._sums) >= MOST
            if not is_full:
                meter = self._sums.setdefault(account, Meter())
                for one in used:
                    meter.add(one)
        if is_full:
            _tell_lost(account, used)

    def _flush_one(self, account: Account, used: list[Usage]) -> None:
        try:
            self._write(*account, used)
        except Undecided as error:
            self._doubt = (error.transaction, account, used)
            raise
        except (IntegrityError, DataError):  # it would be refused again, and hold up all the others
            _tell_lost(account, used)
        except BaseException:
            self._add(account, used)
            raise

    def _settle_doubt(self) -> bool:
        """Whether nothing is in doubt any more."""
        if self._doubt is None:
            return True
        transaction, account, used = self._doubt
        is_committed = self._is_committed(transaction)
        if is_committed is None:
            return False
        self._doubt = None
        if not is_committed:
            self._add(account, used)
        return True


def _tell_lost(account: Account, used: Sequence[Usage]) -> None:
    tenant_id, day = account
    log.error("provider_usage_lost tenant=%s day=%s usage=%s", tenant_id, day, used)
