"""Telling the workers that there is work. Never in the way of a request: a thread of its own sends.

What it sends is a hint. When the broker is away the hint is lost, and the clock's next ring finds the job.
"""

import logging
import os
import threading
from typing import Any

from celery import current_app

log = logging.getLogger(__name__)
TASK = "tenants.run_jobs"
PAUSE = 0.02  # seconds between two hints, so that a thousand writes a second send fifty
ENOUGH = 20  # tasks waiting at the broker: the workers are busy or away, and more hints would only pile up


class _Bell:
    """One thread per process, begun at the first ring after a fork."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew in a forked process: a lock that another thread held is never given back there."""
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
os.register_at_fork(after_in_child=_bell.forget)


def wake(*, slow: bool) -> None:
    """Tells the workers, soon, that a job of this lane waits."""
    _bell.ring(slow)


def wake_both() -> None:
    """Likewise for both lanes."""
    _bell.ring(False)
    _bell.ring(True)


def count_waiting(producer: Any) -> int:
    """How many tasks wait at the broker. Raises Celery's errors of connections and channels."""
    queue = current_app.amqp.queues[current_app.conf.task_default_queue]
    declared: Any = queue(producer.channel).queue_declare()
    return int(declared.message_count)


def send(*, slow: bool) -> None:
    """Sends the hint at once; a broker that is away is no error."""
    try:
        with current_app.producer_or_acquire() as producer:
            if count_waiting(producer) < ENOUGH:
                current_app.send_task(
                    TASK, kwargs={"slow": slow}, ignore_result=True, retry=False, producer=producer
                )
    except Exception as error:  # noqa: BLE001  a hint may be lost, the thread that sends them may not
        log.warning("broker_away: %s", type(error).__name__)
