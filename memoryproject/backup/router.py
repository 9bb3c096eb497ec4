"""A restore runs as the owner: the other roles may not change what is append-only."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import Model

OWNER = "owner"

_owner: ContextVar[bool] = ContextVar("owner_role", default=False)


@contextmanager
def owner_role() -> Iterator[None]:
    """Runs the block's ORM queries as the owner, on one connection and so in one transaction."""
    token = _owner.set(True)
    try:
        yield
    finally:
        _owner.reset(token)


class OwnerRouter:
    """Django's database router of that role; asked first, and silent outside `owner_role()`."""

    def db_for_read(self, model: type[Model], **hints: object) -> str | None:
        return OWNER if _owner.get() else None

    db_for_write = db_for_read
