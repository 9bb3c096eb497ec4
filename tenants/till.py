"""What tenants spend, added up in the process and written every few seconds by a thread of its own.

A recall that wrote its own account would be a write, would wait for every other that pays for the same model,
and would fail with it. A process that is killed loses the seconds that it has not written.
"""

import logging
import multiprocessing.util
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import date
from uuid import UUID

from django.db import DataError, Error, IntegrityError, connections

from providers.metering import Meter, Usage

log = logging.getLogger(__name__)
PAUSE = 2.0  # seconds between two rounds of writing
MOST = 10_000  # tenants' days that wait; what more are spent is told to the log and not counted

Account = tuple[UUID, date]


class Undecided(Exception):
    """The answer to a commit was lost. `transaction` is its number, by which PostgreSQL tells its end."""

    def __init__(self, transaction: str) -> None:
        super().__init__("The answer to the commit was lost.")
        self.transaction = transaction


class Till:
    """One per process; it begins its thread with the first sum after a fork.

    `write` commits an account in one transaction, or raises; Undecided when nobody knows which. Then
    `is_committed` tells, None while the transaction is open. Thread-safe, and nothing is counted twice.
    """

    def __init__(
        self,
        write: Callable[[UUID, date, Sequence[Usage]], None],
        is_committed: Callable[[str], bool | None],
    ) -> None:
        self._write, self._is_committed = write, is_committed
        self.forget()

    def forget(self) -> None:
        """Begins anew in a forked process: the parent writes the sums, and may hold the locks."""
        self._sums: dict[Account, Meter] = {}
        self._doubt: tuple[str, Account, list[Usage]] | None = None
        self._spent = threading.Event()
        self._pid = 0
        self._lock = threading.Lock()
        self._flushing = threading.Lock()

    def add(self, tenant_id: UUID, day: date, used: Sequence[Usage]) -> None:
        """Counts it; written within seconds."""
        self._add((tenant_id, day), used)
        self._spent.set()
        if self._pid != os.getpid():
            self._begin()

    def flush(self) -> None:
        """Writes all there is. Raises what `write` does; what was not written is kept then."""
        with self._flushing:
            if not self._settle_doubt():
                return
            for account in list(self._sums):
                with self._lock:
                    used = self._sums.pop(account).totals()
                self._flush_one(account, used)

    def close(self) -> None:
        """The process ends: writes what is left, or tells the log."""
        try:
            self.flush()
        except Error as error:
            log.warning("provider_usage_not_written: %s", type(error).__name__)
        except Undecided:
            log.warning("provider_usage_not_written: the answer to the last commit was lost")
        for account in list(self._sums):
            _tell_lost(account, self._sums.pop(account).totals())
        if self._doubt:
            _transaction, account, used = self._doubt
            _tell_lost(account, used)

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

    def _begin(self) -> None:
        with self._lock:
            if self._pid == os.getpid():
                return
            self._pid = os.getpid()
        # Also in the children of multiprocessing, as a web worker is one, which never get to atexit.
        multiprocessing.util.Finalize(None, self.close, exitpriority=0)
        threading.Thread(target=self._run, name="write-usage", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._spent.wait()
            time.sleep(PAUSE)
            self._spent.clear()  # first: what is spent from now on is written once more
            try:
                self.flush()
            except Exception as error:  # noqa: BLE001  kept for the next round; the thread may not end
                log.warning("provider_usage_waits: %s", type(error).__name__)
            finally:
                connections.close_all()
            if self._sums or self._doubt:
                self._spent.set()


def _tell_lost(account: Account, used: Sequence[Usage]) -> None:
    tenant_id, day = account
    log.error("provider_usage_lost tenant=%s day=%s usage=%s", tenant_id, day, used)
