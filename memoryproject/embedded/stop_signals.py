"""Ctrl-C, SIGTERM and SIGHUP as one exception, raised once."""

import signal
from types import FrameType, TracebackType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Somebody asked Strata to stop. No `except Exception` swallows it."""


class StopSignals:
    """Inside `with`, the first signal raises StopRequested in the main thread; later ones are ignored."""

    def __enter__(self) -> "StopSignals":
        self._before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        for number in STOP_SIGNALS:
            # nohup's wish is respected; a shell's background job ignores SIGINT, which we must not.
            if number != signal.SIGHUP or self._before[number] != signal.SIG_IGN:
                signal.signal(number, self._raise)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def ignore(self) -> None:
        """From here on nothing interrupts: the children are being stopped, which takes bounded time."""
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.ignore()
        raise StopRequested(signal.Signals(number).name)
