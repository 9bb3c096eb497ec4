"""What the groups of calls stand on."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from .calls import UNSET, Operation

T = TypeVar("T")


class Caller(Protocol):
    """Does operations, and waits for them."""

    def call(
        self,
        operation: Operation[T],
        *,
        path: Sequence[str] = (),
        query: Mapping[str, Any] | None = None,
        body: Any = UNSET,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> T: ...

    def download(
        self, operation: Operation[bytes], *, path: Sequence[str], to: str | os.PathLike[str]
    ) -> int: ...


class AsyncCaller(Protocol):
    """Does operations that are awaited."""

    async def call(
        self,
        operation: Operation[T],
        *,
        path: Sequence[str] = (),
        query: Mapping[str, Any] | None = None,
        body: Any = UNSET,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> T: ...

    async def download(
        self, operation: Operation[bytes], *, path: Sequence[str], to: str | os.PathLike[str]
    ) -> int: ...


class Group:
    """Calls that belong together."""

    def __init__(self, client: Caller) -> None:
        self._client = client


class AsyncGroup:
    """Calls that belong together, awaited."""

    def __init__(self, client: AsyncCaller) -> None:
        self._client = client
