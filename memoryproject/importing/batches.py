"""Writing many entries at once without one of them being the others' trouble."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import DataError, OperationalError

from memoryproject.importing.rows import Kind
from memoryproject.importing.run import Run, is_about_one, refusal
from tenants.errors import DomainError

T = TypeVar("T")


def write_batch(
    run: Run,
    rows: Sequence[T],
    write: Callable[[Sequence[T]], None],
    *,
    tell: Callable[[T], tuple[Kind, str]],
) -> None:
    """Writes all in one commit; where that is refused, one half after the other, down to the entries that are
    the reason. Those are told as refused, by what `tell` says of them: kind and place. Raises what is about a
    store that is away."""
    if not rows:
        return
    try:
        write(rows)
    except (DomainError, DataError, OperationalError) as error:
        if not is_about_one(error):
            raise
        if len(rows) == 1:
            kind, place = tell(rows[0])
            run.report.leave(kind, "refused", refusal(error).removeprefix(f"{place}: "), place=place)
            return
        middle = len(rows) // 2
        write_batch(run, rows[:middle], write, tell=tell)
        write_batch(run, rows[middle:], write, tell=tell)
