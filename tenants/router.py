"""Which database role a query runs as: the app role, unless a block asks for the cross-tenant admin role."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import Model

_admin: ContextVar[bool] = ContextVar("admin_role", default=False)


@contextmanager
def admin_role() -> Iterator[None]:
    """Runs the block's ORM queries as the admin role, which sees every tenant.

    For the Django admin and for named cross-tenant jobs only.
    """
    with _role(is_admin=True):
        yield


@contextmanager
def app_role() -> Iterator[None]:
    """Runs the block's ORM queries as the app role, even inside `admin_role()`: what every scope needs."""
    with _role(is_admin=False):
        yield


@contextmanager
def _role(*, is_admin: bool) -> Iterator[None]:
    token = _admin.set(is_admin)
    try:
        yield
    finally:
        _admin.reset(token)


class RoleRouter:
    """Django's database router for the three roles."""

    def db_for_read(self, model: type[Model], **hints: object) -> str:
        return "admin" if _admin.get() else "default"

    db_for_write = db_for_read

    def allow_relation(self, obj1: Model, obj2: Model, **hints: object) -> bool:
        return True  # the aliases are roles of one database

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == "owner"
