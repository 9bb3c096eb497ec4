"""How long a request waits for PostgreSQL, and how it knows that a connection still stands."""

import select
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

        def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
            """The pool sends nothing by each connection that it gives out, to see whether it stands. What
            PostgreSQL has ended shows at the socket: only where something waits is the round trip made."""
            if query == "" and not self.closed and not _has_something_to_read(self.fileno()):
                return self.cursor()
            return super().execute(query, *args, **kwargs)

    return PatientConnection


def _has_something_to_read(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
