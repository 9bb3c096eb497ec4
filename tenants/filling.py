"""Having everything read by each of a tenant's embedding models: by a chain of jobs, batch by batch.

What is missing is found by looking, not from a list that a crash could leave wrong: by going through the
items in the order of their ids, and asking which of them have a vector. So a batch that is done again finds
nothing to do, and whatever any writer left out is found by the next sweep.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Model
from django.utils import timezone
from numpy.typing import NDArray

from providers.embeddings import EmbeddingUnavailable
from tenants.embedding import embed_accepted
from tenants.generations import changing_tenants, locked_row, of_row, read_generations, reading_by
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.queue import enqueue
from tenants.models import Job, JobState, TenantEmbedding
from tenants.refusals import (
    digest_of,
    forget_refused,
    note_refused,
    refused_by,
    refusing_tenants,
    still_refused,
)
from tenants.scope import scope
from tenants.vectors import Vectors, count_unread, kinds, unread_after

log = logging.getLogger(__name__)
FILL = "embeddings.fill"
BATCH = 64  # texts that are embedded at once: at most about a second of work for the local model
MOST_WINDOWS = 50  # of one job
PAUSE = 10  # times as long as the last look took: by both models some 1.5 s for 100,000 items

_looks_again: dict[UUID, float] = {}  # when, by the monotonic clock


@dataclass(frozen=True, slots=True)
class Place:
    """How far a pass over a tenant's items is: `after` the item with that id. By the numbers of the model
    among the tenant's and of the kind."""

    step: int = 0
    after: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """A batch with its vectors, (accepted, dimensions) in the batch's order; None if too few texts were
    taken. `rejected`: the positions of those that the model does not take."""

    kind: Vectors
    model: str
    batch: Sequence[Any]
    vectors: NDArray[np.float32] | None
    rejected: frozenset[int]


@dataclass(frozen=True, slots=True)
class Looked:
    """Where the pass goes on, None at its end; what was made on the way."""

    next: Place | None
    filled: Filled | None = None


def fill_kind() -> Kind:
    """The job that embeds one batch of what a model of the tenant's has not read; then the next one. Others'
    work comes in between, and new memories' vectors first."""

    def prepare(task: Task) -> Looked:
        try:
            return fill_next(task.tenant_id, Place(**task.payload))
        except EmbeddingUnavailable as error:
            raise RetryLater(str(error), error.retry_after or 0.0) from error

    def apply(task: Task, prepared: Looked) -> None:
        if prepared.filled is not None:
            _store(task.tenant_id, prepared.filled)
        if prepared.next is not None:
            _enqueue(prepared.next)

    return Kind(FILL, apply, prepare=prepare, slow=True, attempts=1_000)


def ask_to_fill(tenant_id: UUID) -> None:
    """Has the open scope's tenant read by its models, unless that is under way."""
    under_way = Job.objects.filter(
        tenant_id=tenant_id, kind=FILL, state__in=(JobState.QUEUED, JobState.RUNNING)
    )
    if not under_way.exists():
        _enqueue(Place())


def sweep() -> int:
    """Looks what each tenant with a change under way still lacks, and has it filled; in how many anything is
    missing. What a tenant's models refused is forgotten where it is gone. A named cross-tenant job: only the
    tenants' names come from the admin role."""
    changing = changing_tenants()
    both = dict.fromkeys([*changing, *refusing_tenants()])
    return sum(_sweep_tenant(one, is_changing=one in changing) for one in both)


def missing(tenant_id: UUID, *, model: str) -> dict[str, int]:
    """How many items of each kind have no vector by `model`, but for those that it does not take."""
    with scope(tenant_id):
        refused = refused_by(TenantEmbedding.objects.filter(tenant_id=tenant_id).first(), model)
        return {
            name: count_unread(
                kind, tenant_id=tenant_id, model=model, but=still_refused(kind, refused.get(name, {}))
            )
            for name, kind in kinds().items()
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a model is with one kind of a tenant's items: `items` that are meant, `vectors` there are,
    `missing` ones, and `refused` texts, which will have none."""

    kind: str
    items: int
    vectors: int
    missing: int
    refused: int

    @property
    def agrees(self) -> bool:
        """Whether each item either has its vector or is known to have none."""
        return self.items == self.vectors + self.missing + self.refused


def progress(tenant_id: UUID, *, model: str) -> list[Progress]:
    """How far `model` is with each kind."""
    with scope(tenant_id):  # of one moment, or what is written meanwhile would look like a disagreement
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        lacked = missing(tenant_id, model=model)
        return [_progress(kind, tenant_id, model, lacked[kind.name]) for kind in _in_order()]


def fill_up(tenant_id: UUID) -> Iterator[int]:
    """Goes over the tenant's items once, here and now: how many were embedded, batch by batch. Raises
    EmbeddingUnavailable when a model is away."""
    place: Place | None = Place()
    while place is not None:
        looked = fill_next(tenant_id, place)
        if looked.filled is not None:
            with scope(tenant_id):
                _store(tenant_id, looked.filled)
            yield len(looked.filled.batch)
        place = looked.next


def fill_next(tenant_id: UUID, place: Place) -> Looked:
    """Embeds the next batch that a model of the tenant's has not read, without storing it. The present
    model's waiting items are left to those who embed new ones."""
    steps = [(model, kind) for model in read_generations(tenant_id).models for kind in _in_order()]
    for _window in range(MOST_WINDOWS):
        if place.step >= len(steps):
            return Looked(None)
        model, kind = steps[place.step]
        is_present = model == steps[0][0]
        with scope(tenant_id):
            batch, after = _window_of(kind, tenant_id, model, place.after, is_present)
        place = Place(place.step, after) if after else Place(place.step + 1)
        if batch:
            with reading_by(model):
                vectors, rejected = embed_accepted([kind.text(one) for one in batch], tenant_id=tenant_id)
            return Looked(place, Filled(kind, model, batch, vectors, rejected))
    return Looked(place)


def _progress(kind: Vectors, tenant_id: UUID, model: str, lacked: int) -> Progress:
    return Progress(
        kind=kind.name,
        items=kind.items._default_manager.filter(kind.meant, tenant_id=tenant_id).count(),
        vectors=kind.vectors._default_manager.filter(tenant_id=tenant_id, model=model).count(),
        missing=lacked,
        refused=count_unread(kind, tenant_id=tenant_id, model=model) - lacked,
    )


def _window_of(
    kind: Vectors, tenant_id: UUID, model: str, after: str, is_present: bool
) -> tuple[list[Any], str]:
    """The first unread items after that one, and where to go on; "" at the end."""
    unread, end = unread_after(kind, tenant_id=tenant_id, model=model, after=after or None)
    row = TenantEmbedding.objects.filter(tenant_id=tenant_id).first()
    refused = refused_by(row, model).get(kind.name, {})
    found = kind.items._default_manager.filter(tenant_id=tenant_id, id__in=unread[: BATCH + len(refused)])
    found = found.order_by("id")
    rows = list(found.filter(embed_pending=False) if is_present else found)
    batch = [one for one in rows if digest_of(kind, one) != refused.get(str(_id(one)))][:BATCH]
    if len(batch) == BATCH:
        return batch, str(_id(batch[-1]))
    if len(unread) > BATCH + len(refused):  # some of those were left out
        return batch, str(unread[BATCH + len(refused) - 1])
    return batch, "" if end is None else str(end)


def _store(tenant_id: UUID, filled: Filled) -> None:
    """Keeps the vectors of what is still there and says the same, in the open scope, unless the tenant has
    given the model up; and notes what the model does not take."""
    kind, row = filled.kind, locked_row(tenant_id)
    if filled.model not in of_row(row).models:
        return
    said = {_id(one): kind.text(one) for one in filled.batch}
    locked = kind.items._default_manager.select_for_update().filter(kind.meant, tenant_id=tenant_id)
    there = {_id(one): one for one in locked.filter(id__in=list(said)).order_by("id")}
    same = {one: item for one, item in there.items() if kind.text(item) == said[one]}
    accepted = [_id(one) for at, one in enumerate(filled.batch) if at not in filled.rejected]
    if filled.vectors is not None:
        pairs = zip(accepted, filled.vectors, strict=True)
        rows = [kind.row(same[one], vector) for one, vector in pairs if one in same]
        kind.vectors._default_manager.bulk_create(rows, ignore_conflicts=True)  # two workers may have met
    rejected = [same[one] for at in sorted(filled.rejected) if (one := _id(filled.batch[at])) in same]
    if row is not None and rejected:
        for item in rejected:
            log.warning("embedding_rejected %s=%s model=%s", kind.name, _id(item), filled.model)
        note_refused(row, model=filled.model, kind=kind, items=rejected)


def _sweep_tenant(tenant_id: UUID, *, is_changing: bool) -> bool:
    if time.monotonic() < _looks_again.get(tenant_id, 0.0):
        return False
    began = time.monotonic()
    forget_refused(tenant_id)
    models = read_generations(tenant_id).models if is_changing else ()
    found = {model: sum(missing(tenant_id, model=model).values()) for model in models}
    ended = time.monotonic()
    _looks_again[tenant_id] = ended + PAUSE * (ended - began)
    if found:
        with scope(tenant_id):
            TenantEmbedding.objects.filter(tenant_id=tenant_id).update(missing=found)
            if any(found.values()):
                ask_to_fill(tenant_id)
    return any(found.values())


def _enqueue(place: Place) -> None:
    payload = {"step": place.step, "after": place.after}
    enqueue(FILL, payload=payload, now=timezone.now(), dedup_key=FILL)


def _in_order() -> list[Vectors]:
    return [kind for _name, kind in sorted(kinds().items())]


def _id(item: Model) -> Any:
    return item.pk
