"""Several writes of one call."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..errors import Buffered

T = TypeVar("T")


def each(writes: Iterable[Callable[[], T]]) -> list[T]:
    """Does each and answers what they did. A write that the buffer keeps is as good as done, and so those
    behind it are done or kept, too; then the last `Buffered` is raised. Any other error ends it at once."""
    done: list[T] = []
    kept: Buffered | None = None
    for write in writes:
        try:
            done.append(write())
        except Buffered as error:
            kept = error
    if kept is not None:
        raise kept
    return done
