"""What a process remembers of keys and tenants from one request to the next."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.conf import settings

Found = TypeVar("Found")


class LookupCache(Generic[Found]):
    """Answers of a lookup, each for at most `API_KEY_CACHE_SECONDS`; what was not found is not kept.

    So whatever ends a key or a tenant takes effect in every process within that time, with nobody told.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._kept: dict[str, tuple[float, Found]] = {}
        self._lock = threading.Lock()
        self._limit = limit

    def get(self, name: str, find: Callable[[str], Found | None]) -> Found | None:
        """The fresh answer for `name`, else what `find` says now."""
        kept = self._kept.get(name)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        expires = time.monotonic() + settings.API_KEY_CACHE_SECONDS  # from before the answer, not after it
        found = find(name)
        with self._lock:
            if found is None:
                self._kept.pop(name, None)
            else:
                if len(self._kept) >= self._limit:
                    self._kept.clear()  # simple and rare; every entry lives for seconds anyway
                self._kept[name] = (expires, found)
        return found
