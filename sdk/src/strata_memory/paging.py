"""Going through the pages of a list."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Page(Protocol[T_co]):
    """What every list answers; `next` leads on, and is None at the end."""

    @property
    def results(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> Any: ...


def iterate(page: Callable[[Any], Page[T_co]]) -> Iterator[T_co]:
    """All that the pages have; one is asked for when the one before has been gone through."""
    cursor = None
    while True:
        found = page(cursor)
        yield from found.results
        cursor = found.next
        if cursor is None:
            return


async def aiterate(page: Callable[[Any], Awaitable[Page[T_co]]]) -> AsyncIterator[T_co]:
    """Likewise."""
    cursor = None
    while True:
        found = await page(cursor)
        for one in found.results:
            yield one
        cursor = found.next
        if cursor is None:
            return
