"""Which doors the isolation self-test tries. Each app registers its own in `ready()`, those of the apps below
first."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from tenants.walls.attempts import Attempt
from tenants.walls.stage import Planted, Stage


def _nothing(planted: Planted) -> None:
    pass


def _around_nothing(stage: Stage) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Door:
    """A way to what tenants have. `about` is one sentence for people.

    `around` is entered before the transaction begins and left after it has ended, whatever happens: for what
    the door needs beside PostgreSQL, in the order of registration. `plant` is called for both tenants, acting
    as each; `attempts` is called afterwards, acting as none, and tries what any door has planted. `columns`
    are its ways, if it tries all of them at each of its targets.
    """

    name: str
    about: str
    attempts: Callable[[Stage], Iterator[Attempt]]
    columns: tuple[str, ...] = ()
    plant: Callable[[Planted], None] = _nothing
    around: Callable[[Stage], AbstractContextManager[None]] = _around_nothing


_doors: dict[str, Door] = {}


def register(*doors: Door) -> None:
    """Makes doors known to this process; the same name again replaces one."""
    _doors.update({one.name: one for one in doors})


def doors() -> tuple[Door, ...]:
    """All of them."""
    return tuple(_doors.values())
