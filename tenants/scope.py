"""The one gate to tenant tables: a short transaction in which PostgreSQL shows one tenant's rows.

`SET LOCAL` ends with the transaction, so the setting can never leak through a pool, works behind a
transaction pooler, and is what Citus propagates. After the commit the setting reads as `''`, not NULL,
which is why the policies use `nullif`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, cast
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

from tenants.errors import Overdue
from tenants.router import app_role

ActAs = Callable[[UUID | None], AbstractContextManager[None]]
ROLLED_BACK = ("40", "53", "55", "57014")  # SQLSTATEs of deadlocks, lack of resources, locks, timeouts

_tenant: ContextVar[UUID | None] = ContextVar("tenant", default=None)
_exempt: ContextVar[bool] = ContextVar("exempt", default=False)
_milliseconds: ContextVar[int] = ContextVar("milliseconds", default=0)
_rehearses: ContextVar[bool] = ContextVar("rehearses", default=False)
_shown: ContextVar[bool] = ContextVar("restricted_shown", default=False)


class NoTenantScope(RuntimeError):
    """A query of the app role ran outside `scope()`; RLS would have answered with silence."""


class ForeignTenantScope(RuntimeError):
    """`scope()` was opened for a second tenant inside another one's transaction."""


@contextmanager
def scope(tenant_id: UUID) -> Iterator[None]:
    """Opens a transaction that sees `tenant_id` only; inside one of the same tenant, joins it.

    Its queries run as the app role, whatever role the caller's do. It begins the transaction itself: inside
    another one the setting would outlive the scope, and leaving the scope would not mean a commit.
    Never hold it across a provider, network or Redis call: it occupies a pooled connection.
    """
    current = _tenant.get()
    if current == tenant_id:
        try:
            with app_role():
                yield
        except OperationalError as error:
            raise _named(error) from error.__cause__
        return
    if current is not None:
        raise ForeignTenantScope("A scope of another tenant is open in this context.")
    try:
        with app_role(), transaction.atomic(durable=True):
            token = _tenant.set(tenant_id)
            try:
                with connection.cursor() as cursor:
                    cursor.execute(_settings(tenant_id))
                yield
            finally:
                _tenant.reset(token)
    except OperationalError as error:
        raise _named(error) from error.__cause__


def fetch_alone(tenant_id: UUID, sql: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row of one statement in a scope of its own, or in the open one of that tenant; None without
    any. It is a third quicker than the same within `scope()`: the settings and the statement go to PostgreSQL
    together, which runs them in one transaction that it begins and commits itself."""
    if _tenant.get() == tenant_id:
        with app_role(), connection.cursor() as cursor:
            cursor.execute(sql, params)
            while cursor.nextset():
                pass
            return cast("tuple[Any, ...] | None", cursor.fetchone())
    if _tenant.get() is not None or connection.in_atomic_block:
        raise ForeignTenantScope("Another transaction is open in this context.")
    token = _tenant.set(tenant_id)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"{_settings(tenant_id)}; {sql}", params)
            while cursor.nextset():
                pass
            return cast("tuple[Any, ...] | None", cursor.fetchone())
    except OperationalError as error:
        raise _named(error) from error.__cause__
    finally:
        _tenant.reset(token)


def _settings(tenant_id: UUID) -> str:
    # A UUID renders as hex digits and dashes: as a literal it spares the parameter round.
    return f"SET LOCAL app.tenant_id = '{UUID(str(tenant_id))}'{_timeout()}{_sight()}"


@contextmanager
def each_statement_within(seconds: float) -> Iterator[None]:
    """In the scopes that the block opens, PostgreSQL gives up each statement after so long: a lock that is
    held, or an index that is gone, must not keep whoever asks. Such a statement raises Overdue, and ends the
    transaction. It is told with the tenant, in the same round trip."""
    token = _milliseconds.set(max(1, round(seconds * 1000)))
    try:
        yield
    finally:
        _milliseconds.reset(token)


@contextmanager
def restricted_shown() -> Iterator[None]:
    """In the scopes that the block opens, the memory of restricted people can be read and changed like
    anybody's: for their export, their erasure, and whoever sees to their rights. It is told with the tenant,
    in the same round trip, so no scope may be open yet."""
    if _tenant.get() is not None and not _shown.get():
        raise RuntimeError("A scope is open already: what it shows is settled.")
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


def shows_restricted() -> bool:
    """Whether the block is one of `restricted_shown`."""
    return _shown.get()


def _sight() -> str:
    return "; SET LOCAL app.restricted = 'shown'" if _shown.get() else ""


def _timeout() -> str:
    limit = _milliseconds.get()
    return f"; SET LOCAL statement_timeout = {limit}" if limit else ""


def _named(error: OperationalError) -> OperationalError | Overdue:
    """Tells a statement that was given up from one that failed."""
    is_overdue = _milliseconds.get() and isinstance(error.__cause__, QueryCanceled)
    return Overdue("PostgreSQL takes too long.") if is_overdue else error


@contextmanager
def rehearsal() -> Iterator[ActAs]:
    """A transaction of the app role that is never committed, in which the block acts as one tenant after
    another, or as none (None), and what one of them wrote is there for the next to reach for. For the
    isolation self-test alone: everybody else has one tenant in a transaction. Restricted people's rows are
    not hidden, so that nothing but the tenant can be what keeps a row back.

    `scope()` of the tenant that is acted as joins it. What it sees of others is what was committed before.
    """
    if _tenant.get() is not None:
        raise ForeignTenantScope("A scope is open already in this context.")
    token = _rehearses.set(True)
    try:
        with restricted_shown(), app_role(), transaction.atomic(durable=True):
            yield from _rehearsed()
    finally:
        _rehearses.reset(token)


def rehearses() -> bool:
    """Whether the block is a rehearsal: what happens there is not to be counted."""
    return _rehearses.get()


def _rehearsed() -> Iterator[ActAs]:
    try:
        with unscoped(), connection.cursor() as cursor:
            # As the strictest of those who join it ask for: later it could not be raised.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SET LOCAL app.restricted = 'shown'")
        yield _acting_as
    finally:
        transaction.set_rollback(True)


@contextmanager
def _acting_as(tenant_id: UUID | None) -> Iterator[None]:
    """In the open rehearsal. What fails in the block is undone."""
    before = _tenant.get()
    with undone(unless_it_succeeds=True):
        _name(tenant_id)
        token = _tenant.set(tenant_id)
        try:
            yield
        finally:
            _tenant.reset(token)
        _name(before)


@contextmanager
def undone(*, unless_it_succeeds: bool = False) -> Iterator[None]:
    """A savepoint of the open rehearsal, whether a tenant is named or not, that is rolled back at the end.
    Then the tenant that PostgreSQL knows is the one that was named before."""
    is_kept = False
    with unscoped():
        savepoint = transaction.savepoint()
    try:
        yield
        is_kept = unless_it_succeeds
    finally:
        with unscoped():
            if is_kept:
                transaction.savepoint_commit(savepoint)
            else:
                transaction.set_rollback(False)  # what failed in between goes with it
                transaction.savepoint_rollback(savepoint)


def _name(tenant_id: UUID | None) -> None:
    value = "" if tenant_id is None else UUID(str(tenant_id))
    with unscoped(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL app.tenant_id = '{value}'")


def forget_scope() -> None:
    """For the copy of a context that another thread runs in: its connection has no scope open."""
    _tenant.set(None)


def undecided(error: BaseException) -> bool:
    """Whether the transaction may be committed although it ended in `error`: its answer was lost, not
    necessarily its work."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if isinstance(error.__cause__, PoolTimeout):
        return False  # it never began
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return not state.startswith(ROLLED_BACK)


@contextmanager
def unscoped() -> Iterator[None]:
    """Allows the block's queries without a tenant: definer functions, health checks, Django's own tables."""
    token = _exempt.set(True)
    try:
        yield
    finally:
        _exempt.reset(token)


def current_tenant() -> UUID:
    """The tenant of the open scope."""
    tenant_id = _tenant.get()
    if tenant_id is None:
        raise NoTenantScope("No tenant scope is open.")
    return tenant_id


def guard_connection(*, connection: BaseDatabaseWrapper, **_kwargs: object) -> None:
    """Refuses scopeless statements on each new connection of the app role."""
    if connection.alias == "default" and _refuse_without_scope not in connection.execute_wrappers:
        # First, not last: a block of `connection.execute_wrapper()` that opened it takes the last one away.
        connection.execute_wrappers.insert(0, _refuse_without_scope)


def _refuse_without_scope(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    if _tenant.get() is None and not _exempt.get():
        raise NoTenantScope(f"This statement needs tenants.scope.scope(): {str(sql)[:80]}")
    return execute(sql, params, many, context)
