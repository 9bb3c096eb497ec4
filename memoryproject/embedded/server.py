"""What the two embedded servers have in common: folder, account, lock, socket, start and end."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from memoryproject.embedded import binaries
from memoryproject.embedded.account import server_account
from memoryproject.embedded.credentials import Credentials
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.folders import SocketFolder, create_home, lock, open_private
from memoryproject.embedded.process import Child, cause

START_SECONDS = 300.0  # a crashed server may replay its log for minutes; a dead one is seen at once


class EmbeddedServer:
    """One server of one home. `start()` raises CannotStart; data outlives `stop()` and `kill()`."""

    name: ClassVar[str]
    folder: ClassVar[str]  # of its data in the home; its log is named after it too
    socket_name: ClassVar[str]  # the longest name it puts into its socket folder
    stop_steps: ClassVar[tuple[tuple[signal.Signals, float], ...]]

    def __init__(self, home: Path, say: Callable[[str], None] = lambda sentence: None) -> None:
        self.home = home
        self.log = home / "logs" / f"{self.folder}.log"
        self._say = say
        self._child: Child | None = None
        self._folder_fd = self._lock_fd = -1

    def start(self) -> None:
        first = self._folder_fd < 0
        try:
            if first:
                self._prepare()
            self._clear_leftovers()
            self._initialise()
            self._child = self._spawn()
            self._wait_until_ready(self._child)
        except BaseException:
            # A restart keeps the addresses that clients hold, even when it has to be tried again.
            (self.stop if first else self.kill)()
            raise

    def stop(self) -> None:
        """End the server in its own good time, and give its folder back."""
        if self._child is not None:
            self._child.stop(*self.stop_steps)
            self._child = None
        if self._folder_fd >= 0:
            self._sockets.remove()
            os.close(self._folder_fd)
            os.close(self._lock_fd)
            self._folder_fd = -1

    def kill(self) -> None:
        """End the server as a power cut would; `start()` recovers. Addresses stay as they are."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def exited(self) -> int | None:
        """The exit code of a server that has ended, None while it runs."""
        return self._child.exited() if self._child else 0

    @property
    def pid(self) -> int:
        return self._child.pid if self._child else 0

    def _prepare(self) -> None:
        create_home(self.home)
        self._account = server_account(self.home)
        self._credentials = Credentials.load(self.home)
        self._binaries = binaries.runnable_by(self._account, binaries.locate())
        path = self.home / self.folder
        fd = open_private(path, self._account)
        try:
            self._lock_fd = lock(path)
            self._sockets = SocketFolder(self.home, self.folder, self.socket_name, self._account)
        except BaseException:
            os.close(fd)
            raise
        self._folder_fd = fd

    def _clear_leftovers(self) -> None:
        """End what an earlier run left, and what would make the server believe that it runs already."""
        raise NotImplementedError

    def _initialise(self) -> None:
        """Make the data folder, or refuse one that this version cannot read."""

    def _spawn(self) -> Child:
        raise NotImplementedError

    def _problem(self) -> str | None:
        """Why the server does not take connections yet, found out by connecting; None when it does."""
        raise NotImplementedError

    def _wait_until_ready(self, child: Child) -> None:
        deadline = time.monotonic() + START_SECONDS
        while (problem := self._problem()) is not None:
            if child.exited() is not None:
                raise CannotStart(f"{self.name} did not start: {cause(child.log_tail())} (see {self.log})")
            if time.monotonic() > deadline:
                raise CannotStart(f"{self.name} took no connection: {problem} (see {self.log})")
            time.sleep(0.02)
