"""The one gate to tenant tables: a short transaction in which PostgreSQL shows one tenant's rows.

`SET LOCAL` ends with the transaction, so the setting can never leak through a pool, works behind a
transaction pooler, and is what Citus propagates. After the commit the setting reads as `''`, not NULL,
which is why the policies use `nullif`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg_pool import PoolTimeout

from tenants.router import app_role

ROLLED_BACK = ("40", "53", "55", "57014")  # SQLSTATEs of deadlocks, lack of resources, locks, timeouts

_tenant: ContextVar[UUID | None] = ContextVar("tenant", default=None)
_exempt: ContextVar[bool] = ContextVar("exempt", default=False)


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
        with app_role():
            yield
        return
    if current is not None:
        raise ForeignTenantScope("A scope of another tenant is open in this context.")
    with app_role(), transaction.atomic(durable=True):
        token = _tenant.set(tenant_id)
        try:
            with connection.cursor() as cursor:
                # A UUID renders as hex digits and dashes: as a literal it spares the parameter round.
                cursor.execute(f"SET LOCAL app.tenant_id = '{UUID(str(tenant_id))}'")
            yield
        finally:
            _tenant.reset(token)


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
