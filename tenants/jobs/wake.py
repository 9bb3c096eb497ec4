"""Telling the workers that there is work. Never in the way of a request: a thread of its own sends.

What it sends is a hint. When the broker is away the hint is lost, and the clock's next ring finds the job.
"""

import logging
import os
import threading

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)
TASK = "tenants.run_jobs"
PAUSE = 0.02  # seconds between two hints, so that a thousand writes a second send fifty


class _Bell:
    """One thread per process, begun at the first ring after a fork."""

    def __init__(self) -> None:
        self._rung: set[bool] = set()
        self._event = threading.Event()
        self._pid = 0
        self._lock = threading.Lock()

    def ring(self, slow: bool) -> None:
        self._rung.add(slow)
        self._event.set()
        if self._pid != os.getpid():
            self._begin()

    def _begin(self) -> None:
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=self._send, name="wake-workers", daemon=True).start()

    def _send(self) -> None:
        while True:
            self._event.wait()
            self._event.clear()
            for slow in (False, True):
                if slow in self._rung:
                    self._rung.discard(slow)  # first: what rings from now on is sent once more
                    send(slow=slow)
            threading.Event().wait(PAUSE)


_bell = _Bell()


def wake(*, slow: bool) -> None:
    """Tells the workers, soon, that a job of this lane waits."""
    _bell.ring(slow)


def wake_both() -> None:
    """Likewise for both lanes."""
    _bell.ring(False)
    _bell.ring(True)


def send(*, slow: bool) -> None:
    """Sends the hint at once; a broker that is away is no error."""
    try:
        current_app.send_task(TASK, kwargs={"slow": slow}, ignore_result=True, retry=False, expires=60)
    except (OperationalError, OSError) as error:
        log.warning("broker_away: %s", type(error).__name__)
