"""Which stores hold what belongs to a person. Each app registers its own in `ready()`.

A store is one table, or the Redis keys of one app. Whatever has a table or a family of keys and no handler
here fails the suite (tests/architecture/test_privacy_handlers.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q

from tenants.router import admin_role
from tenants.scope import restricted_shown, scope

Record = dict[str, Any]
Note = Callable[[Record], None]
BATCH = 1_000  # rows in one transaction
PAGE = 500  # rows read at once
IDS = 20_000  # ids looked up at once


@dataclass(frozen=True, slots=True)
class Subject:
    """A person of a tenant. What came in after `until` is not meant by an erasure.

    `sessions` have no user and say themselves that they are this person's: namespace and client's id of each,
    as `with_sessions` finds them.
    """

    tenant_id: UUID
    user_id: str
    until: datetime
    sessions: tuple[tuple[str, str], ...] = ()


def _none(subject: Subject) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table that belong to a person.

    `moment` is the column that tells when the server took a row in. `hidden` columns stay out of exports.
    Those that meet `kept`, which may ask other tables, are not deleted; they are locked before it is asked.
    Exports are in the order of ids, which is that of time; with `grouped`, a column, first in that one's.
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
    grouped: str = ""

    def export(self, subject: Subject) -> Iterator[Record]:
        """Each row as a record. Opens its own scopes."""
        if not self.exported:
            return
        last: tuple[Any, ...] | None = None
        while places := self._places_after(subject, last):
            last = places[-1]
            for begin in range(0, len(places), PAGE):
                ids = [place[-1] for place in places[begin : begin + PAGE]]
                with restricted_shown(), scope(subject.tenant_id):
                    mine = self.model._default_manager.filter(tenant_id=subject.tenant_id, id__in=ids)
                    rows = list(mine.order_by(*self._order).values(*self._names))
                yield from map(self._record, rows)

    @property
    def _names(self) -> list[str]:
        """The columns of a record; of what is a copy or derived, that it was there."""
        names = [one.attname for one in self.model._meta.concrete_fields if one.attname not in self.hidden]
        return [name for name in names if name != "tenant_id"] if self.exported else ["id"]

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

    def erase(self, subject: Subject, note: Note) -> int:
        """Deletes at most `BATCH` rows in the open `transaction`, of each of which it tells `note` before; 0
        when none is left. Can be repeated at will."""
        found = self._old(subject)
        if self.kept:
            found = found.select_for_update()
        ids = list(found.values_list("id", flat=True)[:BATCH])
        deleted = 0
        for begin in range(0, len(ids), PAGE):
            # One may have been used since we looked: hence by the whole condition.
            doomed = self._old(subject).filter(id__in=ids[begin : begin + PAGE])
            rows = list(doomed.select_for_update().values(*self._names))
            for row in rows:
                note(self._record(row))
            deleted += doomed.filter(id__in=[row["id"] for row in rows]).delete()[0]
        return deleted or self.rest(subject)

    def _old(self, subject: Subject) -> Any:
        condition = Q(tenant_id=subject.tenant_id, **{f"{self.moment}__lte": subject.until})
        condition &= self.belongs(subject)
        if self.kept:
            condition &= ~self.kept(subject)
        return self.model._default_manager.filter(condition)

    @property
    def _order(self) -> tuple[str, ...]:
        return (self.grouped, "id") if self.grouped else ("id",)

    def _places_after(self, subject: Subject, last: tuple[Any, ...] | None) -> list[tuple[Any, ...]]:
        """The next rows, as what they are ordered by."""
        later = Q()
        if last is not None:
            later = Q(id__gt=last[-1])
            if self.grouped:
                later = Q(**{self.grouped: last[0]}) & later | Q(**{f"{self.grouped}__gt": last[0]})
        with restricted_shown(), scope(subject.tenant_id):
            mine = self.model._default_manager.filter(
                self.belongs(subject), later, tenant_id=subject.tenant_id
            )
            return list(mine.order_by(*self._order).values_list(*self._order)[:IDS])


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
_finders: list[Callable[[Subject], Iterable[tuple[str, str]]]] = []
_told: list[Callable[[UUID, str, datetime], None]] = []
_told_of_exports: list[Callable[[UUID, str, UUID], None]] = []


def register(*handlers: Handler) -> None:
    """Makes stores known to this process; the same name again replaces one."""
    _handlers.update({one.name: one for one in handlers})


def find_sessions_by(find: Callable[[Subject], Iterable[tuple[str, str]]]) -> None:
    """Has `find` called for the sessions without a user that say whose they are."""
    _finders.append(find)


def with_sessions(subject: Subject) -> Subject:
    """The person with the sessions that are theirs by what they say now. Outside any scope. Raises
    Unavailable."""
    found = {one for find in _finders for one in find(subject)}
    return replace(subject, sessions=tuple(sorted(found)))


def on_erased(tell: Callable[[UUID, str, datetime], None]) -> None:
    """Has `tell` called, in the scope that ends an erasure, with the tenant, the HMAC that stands for the
    person, and the moment until which everything went."""
    _told.append(tell)


def tell_erased(*, tenant_id: UUID, subject: str, erased_at: datetime) -> None:
    """Tells that everything of the person was erased, in the open scope."""
    for tell in _told:
        tell(tenant_id, subject, erased_at)


def on_exported(tell: Callable[[UUID, str, UUID], None]) -> None:
    """Has `tell` called, in the scope that ends an export, with the tenant, the person, and the id of the
    job, by which it is downloaded."""
    _told_of_exports.append(tell)


def tell_exported(*, tenant_id: UUID, user_id: str, job_id: UUID) -> None:
    """Tells that an export of the person is ready, in the open scope."""
    for tell in _told_of_exports:
        tell(tenant_id, user_id, job_id)


def handlers() -> Mapping[str, Handler]:
    """Every store by its name: tables first, since Redis holds copies of what stands in them."""
    return dict(sorted(_handlers.items(), key=lambda item: isinstance(item[1], Keys)))
