"""Ctrl-C, SIGTERM and SIGHUP as one exception, raised once."""

import signal
import sys
from types import FrameType, TracebackType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Somebody asked Strata to stop. No `except Exception` swallows it."""


class StopSignals:
    """Inside `with`, the first signal raises StopRequested in the main thread.

    Python drops an exception that is raised in some places (a hook run at fork, a finalizer), so loops ask
    `check()` as well: a signal is never lost.
    """

    def __init__(self) -> None:
        self._requested = False

    def __enter__(self) -> "StopSignals":
        self._before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        for number in STOP_SIGNALS:
            # nohup's wish is respected; a shell's background job ignores SIGINT, which we must not.
            if number != signal.SIGHUP or self._before[number] != signal.SIG_IGN:
                signal.signal(number, self._raise)
        self._hook_before, sys.unraisablehook = sys.unraisablehook, self._report_dropped
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._hook_before
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise StopRequested if a signal has come."""
        if self._requested:
            raise StopRequested

    def ignore(self) -> None:
        """From here on nothing interrupts: the children are being stopped, which takes bounded time."""
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if not self._requested:
            self._requested = True
            raise StopRequested

    def _report_dropped(self, dropped: "sys.UnraisableHookArgs") -> None:
        if not isinstance(dropped.exc_value, StopRequested):  # which `check()` raises again
            self._hook_before(dropped)
