"""Web, stream, worker and beat: our own Python programs, run with the caller's account from the checkout."""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.process import Child, bound_size, die_with_parent, private_append

CHECKOUT = Path(__file__).resolve().parent.parent.parent


class Program:
    """A service that runs `python -m <module> …` until told to stop."""

    def __init__(
        self,
        name: str,
        module: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        parent_death: signal.Signals = signal.SIGTERM,
        stop_steps: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 10.0),),
    ) -> None:
        self.name = name
        self.log = log
        self._argv = [sys.executable, "-m", *module]
        self._env = env
        self._parent_death = parent_death
        self._stop_steps = stop_steps
        self._child: Child | None = None

    def start(self) -> None:
        self._child = Child(
            self._argv, log=self.log, env=self._env, cwd=str(CHECKOUT), parent_death=self._parent_death
        )

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop(*self._stop_steps)
            self._child = None

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def exited(self) -> int | None:
        return self._child.exited() if self._child else 0

    def last_words(self) -> str:
        return self._child.log_tail() if self._child else ""


def manage(arguments: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str:
    """Run one `manage.py` command to its end and return what it printed. Raises CannotStart when it fails."""
    bound_size(log)
    with private_append(log) as errors:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=CHECKOUT, env=dict(env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=errors, text=True, check=False, start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )  # fmt: skip
    if done.returncode != 0:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        raise CannotStart(
            f"manage.py {arguments[0]} failed: {lines[-1] if lines else 'it said nothing'} (see {log})"
        )
    return done.stdout
