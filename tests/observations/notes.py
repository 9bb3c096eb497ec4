"""Observations for tests: written, looked for, and what tables hold of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from observations import querysets
from observations.dedup import normalized_hash
from observations.editing import edit_observation, list_revisions
from observations.embedding import embed_batch
from observations.indexing import EMBED
from observations.lexemes import index_text, mark_of
from observations.models import Observation, ObservationEmbedding, ObservationRevision, SearchEntry
from observations.observations import list_observations
from observations.saving import save_observation
from observations.search import search_observations
from observations.timeline import read_timeline
from observations.trash import Deleted, delete_observation, restore_observation
from observations.types import Changes, NewObservation, ObservationFilter, Saved, SearchHit
from tenants.caller import Caller
from tenants.models import Job
from tenants.scope import scope

EARLY = datetime(2026, 1, 1, tzinfo=UTC)
TABLES = (Observation, ObservationRevision, SearchEntry, ObservationEmbedding)


def note(caller: Caller, content: str = "We use the blue cluster.", **more: Any) -> Saved:
    """Saves one, of which the test says what matters to it."""
    now = more.pop("now", None) or timezone.now()
    given = {"session_id": "s1", "type": "decision", "title": "Cluster", "project": "orders"} | more
    return save_observation(caller=caller, new=NewObservation(content=content, **given), now=now)


def embed(caller: Caller) -> None:
    """Has all vectors made that are missing."""
    while embed_batch(caller.tenant_id):
        pass


def search(caller: Caller, text: str, *, limit: int = 10, mode: Any = None, **where: Any) -> list[SearchHit]:
    wanted = ObservationFilter(**({"project": "orders"} | where))
    return search_observations(caller=caller, text=text, where=wanted, limit=limit, mode=mode)


def titles(hits: list[SearchHit]) -> list[str]:
    return [hit.observation.title for hit in hits]


def fill(caller: Caller, contents: Sequence[str], *, every: int = 1, **more: Any) -> list[Observation]:
    """Very many at once, findable by their words; `every`: observations of one second."""
    given = {"session": "s1", "type": "t", "title": "", "project": "orders", "scope": "project"} | more
    rows = [
        Observation(
            tenant_id=caller.tenant_id,
            content=content,
            normalized_hash=normalized_hash(content),
            created_at=EARLY + timedelta(seconds=number // every),
            updated_at=EARLY,
            embed_pending=False,
            **given,
        )
        for number, content in enumerate(contents)
    ]
    with scope(caller.tenant_id):
        Observation.objects.bulk_create(rows, batch_size=1_000)
        for row in rows:
            mark = mark_of(row.tenant_id, querysets.corpus_of(row))
            querysets.write_entry(row, index_text([row.title, row.content, row.topic_key, row.type], mark))
    return rows


def stored(caller: Caller, **named: Any) -> list[Observation]:
    """Every row of the tenant, the trash included, oldest first."""
    with scope(caller.tenant_id):
        found = Observation.objects.filter(tenant_id=caller.tenant_id, **named)
        return list(found.order_by("created_at", "id"))


def row_of(caller: Caller, observation_id: int) -> Observation:
    (row,) = stored(caller, id=observation_id)
    return row


def rows_left(caller: Caller) -> dict[str, int]:
    """How many rows each table holds of the tenant; tables without any are left out."""
    with scope(caller.tenant_id):
        counts = {
            table.__name__: table._default_manager.filter(tenant_id=caller.tenant_id).count()
            for table in TABLES
        }
    return {name: count for name, count in counts.items() if count}


def embed_jobs(caller: Caller) -> list[Job]:
    with scope(caller.tenant_id):
        return list(Job.objects.filter(tenant_id=caller.tenant_id, kind=EMBED))


def edit(caller: Caller, observation_id: int, *, now: datetime | None = None, **changes: Any) -> Observation:
    return edit_observation(
        caller=caller,
        observation_id=observation_id,
        changes=Changes(**changes),
        now=now or timezone.now(),
    )


def delete(
    caller: Caller, observation_id: int, *, hard: bool = False, now: datetime | None = None
) -> Deleted:
    return delete_observation(
        caller=caller, observation_id=observation_id, hard=hard, now=now or timezone.now()
    )


def restore(caller: Caller, observation_id: int, *, now: datetime | None = None) -> Observation:
    return restore_observation(caller=caller, observation_id=observation_id, now=now or timezone.now())


def revisions(
    caller: Caller, observation_id: int, *, limit: int = 100, before: int | None = None
) -> list[ObservationRevision]:
    return list_revisions(caller=caller, observation_id=observation_id, limit=limit, before=before)


def timeline(caller: Caller, observation_id: int, *, before: int = 3, after: int = 3) -> list[Observation]:
    return read_timeline(caller=caller, observation_id=observation_id, before=before, after=after)


def listed(
    caller: Caller,
    *,
    limit: int = 100,
    before: tuple[datetime, int] | None = None,
    trashed: bool = False,
    **where: Any,
) -> list[Observation]:
    return list_observations(
        caller=caller, where=ObservationFilter(**where), limit=limit, before=before, trashed=trashed
    )
