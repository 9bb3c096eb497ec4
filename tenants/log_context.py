"""What the log lines of the work in hand have in common: which request, whose, which job.

It stands this low because those who learn these ids do: authentication, and the runner of jobs. Ids only:
what is bound here is written into every line until the block ends.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from tenants.caller import Caller

_fields: ContextVar[dict[str, str] | None] = ContextVar("log_fields", default=None)


@contextmanager
def bound(**fields: str) -> Iterator[None]:
    """Adds fields to the lines of the block, and takes them away at its end, along with what `bind()` added
    meanwhile: threads are used again, and one request's ids must not show on the next."""
    token = _fields.set({**(_fields.get() or {}), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


def bind(**fields: str) -> None:
    """Adds fields to the open block; without one, nothing, as they would never be taken away."""
    current = _fields.get()
    if current is not None:
        current.update(fields)


def bind_caller(caller: Caller) -> None:
    """Adds whose request it is. A token's subject and a member's name are left out: they are people."""
    bind(tenant=caller.tenant, caller=caller.kind)
    if caller.kind == "key":
        bind(key_id=caller.key_id)


def current() -> Mapping[str, str]:
    """The fields of the open blocks."""
    return _fields.get() or {}
