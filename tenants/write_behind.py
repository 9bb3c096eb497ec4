"""What a process notes while it answers, and a thread of its own writes every few seconds.

A request that wrote such a note itself would be a write, would wait for every other that writes the same row,
and would fail with it. A process that is killed loses the seconds that it has not written.
"""

import logging
import multiprocessing.util
import os
import threading
import time
from abc import ABC, abstractmethod

from celery.signals import worker_process_shutdown
from django.db import Error, connections

log = logging.getLogger(__name__)
PAUSE = 2.0  # seconds between two rounds of writing


class WriteBehind(ABC):
    """Notes of one process. `name` is that of the thread, and begins what is told to the log.

    Whoever adds a note, under `_lock`, calls `_wake` afterwards: the thread begins with the first note after
    a fork. Thread-safe.
    """

    name: str

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew in a forked process: the parent writes what it has noted, and may hold the locks."""
        self._there = threading.Event()
        self._pid = 0
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._clear()

    def register(self) -> None:
        """It is that of this process, and of each that forks from it, until they end."""
        os.register_at_fork(after_in_child=self.forget)
        # A child of a forking Celery worker ends without Python's own way out.
        worker_process_shutdown.connect(self._end, weak=False)

    def flush(self) -> None:
        """Writes all there is, at once. Raises Error; what was not written is kept then."""
        with self._flushing:
            self._flush()

    def close(self) -> None:
        """The process ends: writes what is left, or tells the log."""
        try:
            self.flush()
        except Error as error:
            log.warning("%s_not_written: %s", self.name, type(error).__name__)

    @abstractmethod
    def _clear(self) -> None:
        """Forgets every note."""

    @abstractmethod
    def _flush(self) -> None:
        """Writes all notes; one that was not written is a note again."""

    @abstractmethod
    def _is_left(self) -> bool:
        """Whether there is any note."""

    def _wake(self) -> None:
        self._there.set()
        if self._pid != os.getpid():
            self._begin()

    def _begin(self) -> None:
        with self._lock:
            if self._pid == os.getpid():
                return
            self._pid = os.getpid()
        # Also in the children of multiprocessing, as a web worker is one, which never get to atexit.
        multiprocessing.util.Finalize(None, self.close, exitpriority=0)
        threading.Thread(target=self._run, name=f"write-{self.name}", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._there.wait()
            time.sleep(PAUSE)
            self._there.clear()  # first: what comes from now on is written once more
            try:
                self.flush()
            except Exception as error:  # noqa: BLE001  waits for the next round; the thread may not end
                log.warning("%s_waits: %s", self.name, type(error).__name__)
            finally:
                connections.close_all()
            if self._is_left():
                self._there.set()

    def _end(self, **_kwargs: object) -> None:
        self.close()
