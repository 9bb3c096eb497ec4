"""Items of a store on their way into the store here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.db.models import Q

from episodic.item_types import ItemName, NewItem, item_scope
from episodic.item_writing import prepare_items, write_items
from episodic.models import Item
from memoryproject.importing.batches import write_batch
from memoryproject.importing.rows import Kind, StoreItem
from memoryproject.importing.run import Run
from memoryproject.importing.screening import screen_value
from tenants.scope import scope

KIND: Kind = "items"
NEWER = "the item here was put later"


@dataclass(frozen=True, slots=True)
class _Put:
    """An item that is to be put, and whether one is there."""

    row: StoreItem
    name: ItemName
    is_update: bool


def write_store_items(run: Run, rows: Sequence[StoreItem]) -> None:
    """Puts, in one commit, those that may come in and are not here, or are here and older. One that expires
    has all its time again from now on."""
    now = run.clock()
    named = [(row, _name(run, row)) for row in _screened(run, rows, now)]
    here = _here(run, [name for _row, name in named], now)
    puts = []
    for row, name in named:
        item = here.get((name.whose.user_id, name.digest))
        if item is not None and item.value == row.value:
            run.report.count(KIND, "unchanged")
        elif item is not None and (row.updated_at is None or row.updated_at <= item.updated_at):
            run.report.leave(KIND, "refused", NEWER, place=row.place)
        else:
            puts.append(_Put(row, name, item is not None))
    write_batch(run, puts, partial(_save, run, now), tell=lambda put: (KIND, put.row.place))


def _screened(run: Run, rows: Sequence[StoreItem], now: datetime) -> list[StoreItem]:
    standings = run.standings({one for row in rows for one in _people(row, row.user_id or run.user_id)})
    admitted = []
    for row in rows:
        user_id = run.whose(row.user_id)
        if user_id is None:
            run.report.leave(KIND, "passed_by", "another person's", place=row.place)
        elif not run.seen.is_new(KIND, user_id, *row.namespace, "", row.key):
            run.report.leave(KIND, "duplicates", "the same key again", place=row.place)
        elif not any(
            run.is_barred(KIND, one, standings, since=row.updated_at or row.created_at, place=row.place)
            for one in _people(row, user_id)
        ):
            found = screen_value(row.value, policy=run.policy(run.agent_id), keeps=run.keeps_secrets)
            if run.admit(KIND, found, place=row.place, sample=str(row.value)):
                admitted.append(replace(row, value=found.value, user_id=user_id))
    return admitted


def _people(row: StoreItem, user_id: str) -> Sequence[str]:
    """Whose the item may be: nobody's may be that of each whose id is a label of its namespace."""
    return (user_id,) if user_id else row.namespace


def _name(run: Run, row: StoreItem) -> ItemName:
    return ItemName(
        item_scope(run.caller, user_id=row.user_id, agent_id=run.agent_id), row.namespace, row.key
    )


def _here(run: Run, names: Sequence[ItemName], now: datetime) -> Mapping[tuple[str, str], Item]:
    """Without what has expired and is not swept up yet: to everybody else it is gone."""
    tenant_id = run.caller.tenant_id
    with scope(tenant_id):
        found = Item.objects.filter(
            Q(expires_at=None) | Q(expires_at__gt=now),
            tenant_id=tenant_id,
            user_id__in={name.whose.user_id for name in names},
            digest__in={name.digest for name in names},
        )
        return {(one.user_id, one.digest): one for one in found}


def _save(run: Run, now: datetime, puts: Sequence[_Put]) -> None:
    items = [
        NewItem(
            put.name,
            dict(put.row.value),
            ttl_minutes=_minutes_left(put.row, now),
            created_at=put.row.created_at,
            updated_at=put.row.updated_at,
        )
        for put in puts
    ]
    if not run.is_dry:
        prepared = prepare_items(caller=run.caller, items=items, now=now)
        with scope(run.caller.tenant_id):
            write_items(caller=run.caller, prepared=prepared, deleted=(), now=now)
    for put in puts:
        run.report.count(KIND, "updated" if put.is_update else "written")


def _minutes_left(row: StoreItem, now: datetime) -> float | None:
    """Of one that expires at a moment, without a time of its own, what is left of it."""
    if row.ttl_minutes is not None or row.expires_at is None:
        return row.ttl_minutes
    return max((row.expires_at - now).total_seconds() / 60, 1.0)
