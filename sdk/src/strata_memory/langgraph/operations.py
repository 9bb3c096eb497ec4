"""Translates LangGraph's operations into the server's, and its answers back. Knows no network.

A batch is a conversation: `exchange` says what to send, is given the answers, and says what to send next.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.store.base import (
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
    validate_op_namespace,
)

from ..calls import _json as sent  # what is measured is what will be sent
from . import answers
from .indexing import Index
from .strict import check_json

Wire = dict[str, Any]
Vectors = Mapping[str, list[float]]  # by text
Exchange = Generator[list[Wire], list[Any], list[Result]]

PAGE = 1_000  # the most that one search or listing answers
OPERATIONS = 1_000  # the most of one request
ASKED = 100_000  # results that the operations of one request may ask for
REQUEST_BYTES = 900_000  # of operations in one request; the server takes 1 MiB unless it was told otherwise


WRITING = frozenset({"put", "delete"})


def checked(ops: Iterable[Op]) -> list[Op]:
    """The batch. Raises InvalidNamespaceError for what LangGraph allows in no namespace, and TypeError or
    ValueError for what is no JSON."""
    batch = list(ops)
    for op in batch:
        validate_op_namespace(op)
        if isinstance(op, PutOp):
            check_json(value=op.value and dict(op.value), index=op.index, ttl=op.ttl)
        elif isinstance(op, SearchOp):
            check_json(filter=op.filter, limit=op.limit, offset=op.offset)
    return batch


def last_puts(batch: Sequence[Op]) -> list[PutOp]:
    """Of several puts of an item the last counts."""
    last = {(tuple(op.namespace), str(op.key)): op for op in batch if isinstance(op, PutOp)}
    return list(last.values())


def texts(batch: Sequence[Op], index: Index) -> list[str]:
    """What has to be embedded here before the batch is sent."""
    reads = [op for op in batch if not isinstance(op, PutOp)]
    return index.wanted([*reads, *last_puts(batch)])


def exchange(batch: Sequence[Op], *, index: Index, vectors: Vectors, scope: Mapping[str, str]) -> Exchange:
    """Yields the operations of a request, is sent its results, and so on; returns the results of the batch.

    One request does, unless the batch holds more than `OPERATIONS` or `REQUEST_BYTES`, or reads more than a
    `PAGE`. Reads come before writes in any case: they see what was before the batch.
    """
    reads = [_Read(at, op) for at, op in enumerate(batch) if not isinstance(op, PutOp)]
    several = [read for read in reads if read.wanted > PAGE]
    while several:
        yield from _ask(several, index, vectors, scope)
        several = [read for read in several if not read.done]
    rest = [read for read in reads if 0 < read.wanted <= PAGE]
    writes = [_put(op, index, vectors) for op in last_puts(batch)]
    yield from _ask(rest, index, vectors, scope, writes)
    results: list[Result] = [None] * len(batch)
    for read in reads:
        results[read.at] = read.result()
    return results


@dataclass(slots=True)
class _Read:
    """A reading operation at its place in the batch, and what came so far."""

    at: int
    op: GetOp | SearchOp | ListNamespacesOp
    got: list[Any] = field(default_factory=list)
    done: bool = False

    @property
    def wanted(self) -> int:
        return 1 if isinstance(self.op, GetOp) else self.op.limit

    def wire(self, index: Index, vectors: Vectors) -> Wire:
        if isinstance(self.op, GetOp):
            return _get(self.op)
        page = {"limit": min(self.wanted - len(self.got), PAGE), "offset": self.op.offset + len(self.got)}
        if isinstance(self.op, SearchOp):
            return _search(self.op, index, vectors) | page
        return _namespaces(self.op) | page

    def take(self, answer: Any) -> None:
        if isinstance(self.op, GetOp):
            self.got = [answer] if answer else []
            return
        self.got += answer
        self.done = len(answer) < PAGE or len(self.got) >= self.wanted

    def result(self) -> Result:
        if isinstance(self.op, GetOp):
            return answers.item(self.got[0]) if self.got else None
        if isinstance(self.op, SearchOp):
            return [answers.search_item(one) for one in self.got]
        return [tuple(path) for path in self.got]


def _ask(
    reads: Sequence[_Read],
    index: Index,
    vectors: Vectors,
    scope: Mapping[str, str],
    writes: Sequence[Wire] = (),
) -> Generator[list[Wire], list[Any], None]:
    """Asks for each read's next page and then writes, a request after the other; hands out the answers."""
    wires = [*(read.wire(index, vectors) for read in reads), *writes]
    told: list[Any] = []
    for some in requests([{**wire, **scope} for wire in wires]):
        told += answers.read(some, (yield some))
    for read, answer in zip(reads, told, strict=False):  # the writes' answers are left over
        read.take(answer)


def requests(wires: Sequence[Wire]) -> Iterator[list[Wire]]:
    """The operations in their order, as many to a request as it may hold."""
    some: list[Wire] = []
    held = asked = 0
    for wire in wires:
        size = len(sent(wire)) + len(",") if len(wires) > 1 else 0  # alone it has nowhere else to go
        limit = wire.get("limit", 0)
        if some and (len(some) == OPERATIONS or held + size > REQUEST_BYTES or asked + limit > ASKED):
            yield some
            some, held, asked = [], 0, 0
        some.append(wire)
        held += size
        asked += limit
    if some:
        yield some


def _get(op: GetOp) -> Wire:
    return {"op": "get", "namespace": list(op.namespace), "key": str(op.key), "refresh_ttl": op.refresh_ttl}


def _search(op: SearchOp, index: Index, vectors: Vectors) -> Wire:
    wire: Wire = {
        "op": "search",
        "namespace_prefix": list(op.namespace_prefix),
        "refresh_ttl": op.refresh_ttl,
    }
    if op.filter:
        wire["filter"] = op.filter
    if op.query and index.embeddings:
        wire |= {"vector": vectors[op.query], "distance": index.distance}
    elif op.query:
        wire["query"] = op.query
    return wire


def _namespaces(op: ListNamespacesOp) -> Wire:
    conditions = [
        {"match_type": one.match_type, "path": _labels(one.path)}
        for one in op.match_conditions or ()
        if one.path  # an empty one asks for nothing
    ]
    return {"op": "namespaces", "match_conditions": conditions, "max_depth": op.max_depth}


def _labels(path: object) -> list[str]:
    """LangGraph's types ask for a tuple, and its callers write a text for a single label."""
    return [path] if isinstance(path, str) else list(cast(Sequence[str], path))


def _put(op: PutOp, index: Index, vectors: Vectors) -> Wire:
    place = {"namespace": list(op.namespace), "key": str(op.key)}
    if op.value is None:
        return {"op": "delete", **place}
    wire: Wire = {"op": "put", **place, "value": dict(op.value), "index": index.paths(op), "ttl": op.ttl}
    if index.embeddings:
        wire["vectors"] = [
            {"path": text.path, "vector": vectors[text.text]}
            for text in index.texts(op)
            if text.text in vectors
        ]
    return wire
