"""Everything of a project, or all, as one export; and such an export read in again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

from django.db import connection

from observations.models import Observation
from observations.sessions import import_project_sessions
from observations.transfer import ImportedObservation, export_observations, import_observations
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import memory_span, span_while_read
from working.models import Session
from working.transfer import ImportedSession, export_sessions

Row = ImportedSession | ImportedObservation
T = TypeVar("T")
BATCH = 100  # rows that are imported in one transaction


@dataclass(frozen=True, slots=True)
class Export:
    """Sessions and observations, read page by page while they are taken out: first all sessions."""

    sessions: Iterator[Session]
    observations: Iterator[Observation]


@dataclass(slots=True)
class Imported:
    """How many were added."""

    sessions: int = 0
    observations: int = 0


def export_memory(*, caller: Caller, project: str) -> Export:
    """What the key reaches of the project, or of all without one. Not as of one moment: what is written
    meanwhile may be in it or not. Raises Forbidden at once, for another project than the key's."""
    named = project_of(caller, project)
    sessions = _flat(export_sessions(caller=caller, project=named))
    observations = _flat(export_observations(caller=caller, project=named))
    return Export(*span_while_read("export", sessions, observations, project=named))


def import_memory(*, caller: Caller, rows: Iterable[Row], now: datetime) -> Imported:
    """Adds what is not here yet, in batches: each is committed whole or not at all, and stays when a later
    one is refused. Read again, the same rows add only what is still missing."""
    done, left = Imported(), iter(rows)
    with memory_span("import") as span:
        try:
            while batch := list(islice(left, BATCH)):
                _import_batch(caller, batch, done, now)
        finally:  # also when a later batch is refused
            span.set(imported_sessions=done.sessions, imported_observations=done.observations)
    return done


def _import_batch(caller: Caller, batch: Sequence[Row], done: Imported, now: datetime) -> None:
    sessions = [row for row in batch if isinstance(row, ImportedSession)]
    observations = [row for row in batch if isinstance(row, ImportedObservation)]
    with scope(caller.tenant_id):
        new_sessions = import_project_sessions(caller=caller, rows=sessions, now=now)
        new_observations = import_observations(caller=caller, rows=observations, now=now)
    done.sessions += new_sessions
    done.observations += new_observations


def _flat(pages: Iterator[list[T]]) -> Iterator[T]:
    """The rows of the pages. Between two of them no connection is held: a client may take hours."""

    def released() -> Iterator[list[T]]:
        for page in pages:
            connection.close()
            yield page

    return chain.from_iterable(released())
