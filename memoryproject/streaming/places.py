"""How many streams a key and a tenant may have open: those of one must not take the room of all."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from uuid import UUID

from django.conf import settings

from tenants.caller import Caller
from tenants.errors import TooMany

TENANT = ""  # no key is called so
Take = Callable[[Caller], None]


class Places:
    """Those of one process, which any thread may take."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: Counter[tuple[UUID, str]] = Counter()

    @contextmanager
    def one(self) -> Iterator[Take]:
        """What takes a place, for a caller, until the block is left, or raises TooMany. The block may be left
        while a thread is still about to take one: then it takes none."""
        taken = list[Caller]()
        is_left = False

        def take(caller: Caller) -> None:
            with self._lock:
                if not is_left:
                    self._refuse_too_many(caller)
                    self._count(caller, 1)
                    taken.append(caller)

        try:
            yield take
        finally:
            with self._lock:
                is_left = True
                for caller in taken:
                    self._count(caller, -1)

    def _refuse_too_many(self, caller: Caller) -> None:
        if self._taken[caller.tenant_id, caller.principal] >= settings.STREAMS_PER_KEY:
            raise TooMany(f"This key has {settings.STREAMS_PER_KEY} streams open.")
        if self._taken[caller.tenant_id, TENANT] >= settings.STREAMS_PER_TENANT:
            raise TooMany(f"This tenant has {settings.STREAMS_PER_TENANT} streams open.")

    def _count(self, caller: Caller, change: int) -> None:
        for of in (caller.principal, TENANT):
            self._taken[caller.tenant_id, of] += change
            if not self._taken[caller.tenant_id, of]:
                del self._taken[caller.tenant_id, of]
