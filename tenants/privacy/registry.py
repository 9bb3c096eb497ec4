"""Which stores hold what belongs to a person. Each app registers its own in `ready()`.

A store is one table, or the Redis keys of one app. Whatever has a table or a family of keys and no handler
here fails the suite (tests/architecture/test_privacy_handlers.py).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q

from tenants.router import admin_role
from tenants.scope import scope

Record = dict[str, Any]
BATCH = 1_000  # rows in one transaction
PAGE = 500  # rows read at once
IDS = 20_000  # ids looked up at once


@dataclass(frozen=True, slots=True)
class Subject:
    """A person of a tenant. What came in after `until` is not meant by an erasure."""

    tenant_id: UUID
    user_id: str
    until: datetime


def _none(subject: Subject) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table that belong to a person.

    `moment` is the column that tells when the server took a row in. `hidden` columns stay out of exports.
    Those that meet `kept`, which may ask other tables, are not deleted; they are locked before it is asked.
    `rest` is called in the open transaction when no row is left to delete: for those. `as_admin` is for a
    table that the app role may only read.
    """

    name: str
    model: type[Model]
    belongs: Callable[[Subject], Q]
    moment: str
    hidden: frozenset[str] = frozenset()
    exported: bool = True
    kept: Callable[[Subject], Q] | None = None
    rest: Callable[[Subject], int] = _none
    as_admin: bool = False

    def export(self, subject: Subject) -> Iterator[Record]:
        """Each row as a record. Opens its own scopes."""
        if not self.exported:
            return
        names = [one.attname for one in self.model._meta.concrete_fields if one.attname not in self.hidden]
        names.remove("tenant_id")
        last: UUID | int | None = None
        while ids := self._ids_after(subject, last):
            last = ids[-1]
            for begin in range(0, len(ids), PAGE):
                with scope(subject.tenant_id):
                    mine = self.model._default_manager.filter(
                        tenant_id=subject.tenant_id, id__in=ids[begin : begin + PAGE]
                    )
                    rows = list(mine.order_by("id").values(*names))
                yield from map(self._record, rows)

    def _record(self, row: Record) -> Record:
        if "kind" in row:
            row[f"{self.name}_kind"] = row.pop("kind")
        return {"kind": self.name, **row}

    def count(self, subject: Subject) -> int:
        """How many rows an erasure is going to delete. In the open scope."""
        return int(self._old(subject).count())

    @contextmanager
    def transaction(self, tenant_id: UUID) -> Iterator[None]:
        """In which the rows are deleted, together with what is counted there: a scope, or one of the admin
        role, which then names the tenant itself."""
        if self.as_admin:
            with admin_role(), transaction.atomic(using="admin"):
                yield
        else:
            with scope(tenant_id):
                yield

    def erase(self, subject: Subject) -> int:
        """Deletes at most `BATCH` rows in the open `transaction`; 0 when none is left. Can be repeated at
        will."""
        found = self._old(subject)
        if self.kept:
            found = found.select_for_update()
        ids = list(found.values_list("id", flat=True)[:BATCH])
        # One may have been used since we looked: hence by the whole condition.
        deleted = self._old(subject).filter(id__in=ids).delete()[0] if ids else 0
        return deleted or self.rest(subject)

    def _old(self, subject: Subject) -> Any:
        condition = Q(tenant_id=subject.tenant_id, **{f"{self.moment}__lte": subject.until})
        condition &= self.belongs(subject)
        if self.kept:
            condition &= ~self.kept(subject)
        return self.model._default_manager.filter(condition)

    def _ids_after(self, subject: Subject, last: UUID | int | None) -> list[UUID | int]:
        later = Q() if last is None else Q(id__gt=last)
        with scope(subject.tenant_id):
            mine = self.model._default_manager.filter(
                self.belongs(subject), later, tenant_id=subject.tenant_id
            )
            return list(mine.order_by("id").values_list("id", flat=True)[:IDS])


def _no_records(subject: Subject) -> Iterator[Record]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Keys:
    """The Redis keys of one app that belong to a person, or name one. All run outside any scope and raise
    Unavailable when Redis is away.

    `families` are the functions that make them, and the names of sets that span people. `newer` tells of a
    key's or member's text whether what it names began after a moment of the Redis clock, in microseconds:
    the work of one who has come back.
    """

    name: str
    families: tuple[Callable[..., str] | str, ...]
    erase: Callable[[Subject], int]
    export: Callable[[Subject], Iterator[Record]] = _no_records
    newer: Callable[[str, int], bool] | None = field(default=None)


Handler = Rows | Keys
_handlers: dict[str, Handler] = {}


def register(*handlers: Handler) -> None:
    """Makes stores known to this process; the same name again replaces one."""
    _handlers.update({one.name: one for one in handlers})


def handlers() -> Mapping[str, Handler]:
    """Every store by its name: tables first, since Redis holds copies of what stands in them."""
    return dict(sorted(_handlers.items(), key=lambda item: isinstance(item[1], Keys)))
