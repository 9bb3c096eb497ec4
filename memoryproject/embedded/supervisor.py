"""Keeps services running: starts them in order, restarts what dies, stops them in reverse order."""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.process import bound_size

WATCH_SECONDS = 0.2
MAX_DEATHS, DEATH_WINDOW_SECONDS = 5, 60.0  # a service that dies more often than that is given up
LONGEST_PAUSE_SECONDS = 5.0
LOG_CHECK_SECONDS = 30.0


class Service(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def log(self) -> Path: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def exited(self) -> int | None: ...


class Supervisor:
    """`say` tells the person at the terminal; `check_stop` raises when they asked for the end."""

    def __init__(self, say: Callable[[str], None], check_stop: Callable[[], None] = lambda: None) -> None:
        self._say = say
        self._check_stop = check_stop
        self._services: list[Service] = []
        self._deaths: dict[str, deque[float]] = {}
        self._logs_checked = time.monotonic()

    def start(self, service: Service) -> None:
        """Start `service` and watch over it from now on. Raises CannotStart."""
        self._check_stop()
        self._services.append(service)
        service.start()

    def watch(self) -> None:
        """Restart what dies, for ever. Raises CannotStart when a service dies again and again."""
        while True:
            self._check_stop()
            self.check()
            time.sleep(WATCH_SECONDS)

    def check(self) -> None:
        for service in self._services:
            if (code := service.exited()) is not None:
                self._revive(service, f"{service.name} ended {_how(code)}")
        if time.monotonic() - self._logs_checked > LOG_CHECK_SECONDS:
            self._logs_checked = time.monotonic()
            for service in self._services:
                bound_size(service.log)

    def stop(self) -> None:
        """End all services in reverse order of their start; what they hold on to is given back."""
        while self._services:
            self._services.pop().stop()

    def _revive(self, service: Service, event: str) -> None:
        while True:
            self._check_stop()
            pause = self._pause_after_death(service, event)
            self._say(f"{event}; starting it again (see {service.log}).")
            time.sleep(pause)
            try:
                return service.start()
            except CannotStart as error:
                event = str(error).rstrip(".")

    def _pause_after_death(self, service: Service, event: str) -> float:
        """Seconds to wait before the next start: none at first, then longer each time."""
        now = time.monotonic()
        deaths = self._deaths.setdefault(service.name, deque())
        deaths.append(now)
        while now - deaths[0] > DEATH_WINDOW_SECONDS:
            deaths.popleft()
        if len(deaths) > MAX_DEATHS:
            raise CannotStart(
                f"{event}, for the {len(deaths)}th time within a minute; Strata stops. See {service.log}."
            )
        return min(0.25 * (2.0 ** (len(deaths) - 1) - 1), LONGEST_PAUSE_SECONDS)


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
