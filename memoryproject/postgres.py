"""How long a request waits for PostgreSQL."""

from typing import Any

import psycopg
from psycopg.errors import _WaitTimeout


def patient_for(seconds: float) -> type[psycopg.Connection]:
    """A connection class that gives up on a server that says nothing for `seconds`.

    A stopped machine or a stuck disk refuses nothing: it is silent, and statement_timeout is kept by the very
    server that hangs. Without this, every thread of a web process ends up waiting.
    """

    class PatientConnection(psycopg.Connection):
        def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            try:
                return super().wait(gen, interval, seconds if timeout is None else timeout)
            except _WaitTimeout as error:
                if timeout is not None:  # psycopg's own, which it handles
                    raise
                self.pgconn.finish()  # whatever it answers later must not be taken for the next answer
                raise psycopg.OperationalError("PostgreSQL does not answer.") from error

    return PatientConnection
