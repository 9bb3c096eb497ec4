"""A batch on its way: what is asked next, and until when. The two stores differ only in how they wait."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.store.base import Op, Result
from typing_extensions import TypedDict  # pydantic reads it, on Python 3.11 too

from ..calls import Operation
from ..errors import DeadlineExceeded
from .indexing import Index
from .operations import WRITING, Vectors, Wire, exchange


class Answer(TypedDict):
    """What the server answers to a request of a batch."""

    results: list[Any]


READ: Operation[Answer] = Operation("POST", "/api/v1/store/batch", answer=Answer)
WRITE: Operation[Answer] = Operation("POST", "/api/v1/store/batch", answer=Answer, is_write=True)


class Talk:
    """`wires` are the operations of the next request; none are left once `results` has those of the batch."""

    def __init__(
        self,
        batch: Sequence[Op],
        *,
        index: Index,
        vectors: Vectors,
        scope: Mapping[str, str],
        timeout: float,
    ) -> None:
        self.wires: list[Wire] = []
        self.results: list[Result] = []
        self._timeout, self._end = timeout, time.monotonic() + timeout
        self._exchange = exchange(batch, index=index, vectors=vectors, scope=scope)
        self._go_on(None)

    @property
    def operation(self) -> Operation[Answer]:
        """What only reads needs no Idempotency-Key, and the server keeps no answer for it."""
        return WRITE if any(wire["op"] in WRITING for wire in self.wires) else READ

    @property
    def body(self) -> Mapping[str, Any]:
        """That of the request."""
        return {"operations": self.wires}

    def left(self) -> float:
        """Seconds that the batch has yet. Raises DeadlineExceeded when there are none."""
        if (left := self._end - time.monotonic()) <= 0:
            raise DeadlineExceeded(self._timeout)
        return left

    def take(self, answer: Answer) -> None:
        """What the request was answered. Raises InvalidAnswer."""
        self._go_on(answer["results"])

    def _go_on(self, told: list[Any] | None) -> None:
        """A generator that was not asked yet is sent None."""
        try:
            self.wires = self._exchange.send(told)  # type: ignore[arg-type]
        except StopIteration as done:
            self.wires, self.results = [], done.value
