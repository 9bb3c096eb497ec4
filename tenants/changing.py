"""From one embedding model to another, tenant by tenant: begun, switched, rolled back, ended."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from providers.embeddings import EmbeddingUnavailable, get_embedder
from tenants import audit
from tenants.embedding import embed_query
from tenants.errors import Conflict, Invalid, Unavailable
from tenants.filling import ask_to_fill, fill_up, missing
from tenants.generations import (
    Generations,
    forget_at_commit,
    locked_row,
    of_row,
    read_generations,
    reading_by,
)
from tenants.models import TenantEmbedding
from tenants.refusals import refused_ids
from tenants.scope import scope
from tenants.vectors import count_unread, drop_model, kinds

MOST_LATE = 1_000  # items that a switch itself has read before it: more are the workers' business

Advance = Callable[[int], object]  # told how much more is done


def begin_change(*, tenant_id: UUID, to: str, actor: str, now: datetime) -> Generations:
    """Has everything read by `to` as well, what is there and what comes. Searches go on as before.

    Begun again it has tried anew what `to` refused. With `to` the present model, only what that has not read
    is. Raises Invalid for a model that is not set up, Conflict while a change to another is under way.
    """
    _check_set_up(to)
    with scope(tenant_id):
        row = locked_row(tenant_id)
        before = of_row(row)
        if before.other and to not in before.models:
            raise Conflict(
                f"A change between {before.model} and {before.other} is under way: drop one first."
            )
        if to not in before.models:
            row = row or TenantEmbedding(tenant_id=tenant_id, model=before.model)
            row.other, row.is_switched, row.changed_at = to, False, now
            row.missing = {}
            _save(row, actor, "embedding.begin")
        if row is not None and row.refused.pop(to, None):
            row.save(update_fields=["refused"])
        ask_to_fill(tenant_id)
        return of_row(row)


def switch_model(*, tenant_id: UUID, actor: str, now: datetime) -> Generations:
    """Has searches go by the other model: one row, which every process follows within
    `API_KEY_CACHE_SECONDS`. The former model is kept complete as well, until the change is ended.

    What was written in the last seconds is read by it first, here. Raises Conflict while anything else is
    missing, without a change to switch, and when the model is away: searches would find words alone.
    """
    before = read_generations(tenant_id)
    if not before.other or before.is_switched:
        raise Conflict(
            "There is no change to switch: begin one." if not before.other else "Switched already."
        )
    _check_set_up(before.other)
    late = sum(missing(tenant_id, model=before.other).values())
    if late > MOST_LATE:
        raise Conflict(f"{late} items have no vector by {before.other} yet.")
    if late:
        _catch_up(tenant_id)
    _check_answers(before.other, tenant_id)
    return _swap(tenant_id, before, actor, now, began=now)


def rollback_model(*, tenant_id: UUID, actor: str, now: datetime) -> Generations:
    """Has searches go by the former model again, at once: it was kept complete. What was written in the last
    seconds may be found by its words alone until the workers have come to it. Raises Conflict when nothing
    was switched."""
    before = read_generations(tenant_id)
    if not before.is_switched:
        raise Conflict("Nothing was switched: there is nothing to roll back.")
    return _swap(tenant_id, before, actor, now)


def drop_generation(
    *, tenant_id: UUID, model: str, actor: str, now: datetime, advance: Advance = lambda count: None
) -> int:
    """Deletes the tenant's vectors of a model, and ends the change that it was part of; how many.

    Raises Conflict when searches go by it or may still do so, and when anything would be lost to search.
    """
    _end(tenant_id, model, actor, now)
    deleted = 0
    for kind in kinds().values():
        for count in drop_model(kind, tenant_id=tenant_id, model=model):
            deleted += count
            advance(count)
    if deleted:
        with scope(tenant_id):
            audit.record(
                tenant_id=tenant_id, actor=actor, action="embedding.drop", target=model, vectors=deleted
            )
    return deleted


def _swap(
    tenant_id: UUID, before: Generations, actor: str, now: datetime, began: datetime | None = None
) -> Generations:
    """Has the two models change places; with `began`, if the other lacks nothing that is older than that."""
    with scope(tenant_id):
        row = locked_row(tenant_id)
        if row is None or of_row(row) != before:
            raise Conflict("Somebody else has just changed the model: look and try again.")
        if began is not None and (left := _older(tenant_id, before.other, began)):
            raise Conflict(f"{left} items have no vector by {before.other} yet.")
        row.model, row.other, row.is_switched = before.other, before.model, not before.is_switched
        row.changed_at = now
        _save(row, actor, "embedding.switch" if row.is_switched else "embedding.rollback")
        ask_to_fill(tenant_id)
        return of_row(row)


def _end(tenant_id: UUID, model: str, actor: str, now: datetime) -> None:
    present = read_generations(tenant_id)
    if model == present.model:
        raise Conflict(f"{model} is the present model: without its vectors nothing is found by meaning.")
    if any(_lost(tenant_id, present.model, model)):
        _catch_up(tenant_id)
    with scope(tenant_id):
        row = locked_row(tenant_id)
        if of_row(row) != present:
            raise Conflict("Somebody else has just changed the model: look and try again.")
        if lost := sum(_lost(tenant_id, present.model, model)):
            raise Conflict(
                f"{lost} items have no vector by {present.model} yet: they would be lost to search."
            )
        if row is None or row.other != model:
            return
        settled = row.changed_at + timedelta(seconds=settings.API_KEY_CACHE_SECONDS)
        if now < settled:
            raise Conflict(f"Processes may still go by {model}: try again in some seconds.")
        row.other, row.is_switched, row.changed_at, row.missing = "", False, now, {}
        row.refused.pop(model, None)
        _save(row, actor, "embedding.end", ended=model)


def _catch_up(tenant_id: UUID) -> None:
    try:
        for _count in fill_up(tenant_id):
            pass
    except EmbeddingUnavailable as error:
        raise Conflict(f"Not everything could be embedded: {error}") from error


def _older(tenant_id: UUID, model: str, moment: datetime) -> int:
    return sum(
        count_unread(
            kind,
            tenant_id=tenant_id,
            model=model,
            but=refused_ids(tenant_id, model=model, kind=kind),
            before=moment,
        )
        for kind in kinds().values()
    )


def _lost(tenant_id: UUID, model: str, without: str) -> list[int]:
    return [
        count_unread(
            kind,
            tenant_id=tenant_id,
            model=model,
            read_by=without,
            but=refused_ids(tenant_id, model=model, kind=kind),
        )
        for kind in kinds().values()
    ]


def _check_set_up(model: str) -> None:
    try:
        get_embedder(model)
    except EmbeddingUnavailable as error:
        raise Invalid(str(error), "to") from error


def _check_answers(model: str, tenant_id: UUID) -> None:
    try:
        with reading_by(model):
            embed_query("Hello.", tenant_id=tenant_id)
    except Unavailable as error:
        raise Conflict(f"The model {model} does not answer.") from error


def _save(row: TenantEmbedding, actor: str, action: str, **details: str) -> None:
    row.save()
    audit.record(
        tenant_id=row.tenant_id, actor=actor, action=action, target=row.model, other=row.other, **details
    )
    forget_at_commit(row.tenant_id)
