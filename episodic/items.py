"""Reading items of the store: one by its name, those below a namespace, and the namespaces themselves.

Answers are JSON texts, as they go to the client. An item that has expired, or whose episode was taken back,
is never among them.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np

from episodic.item_queries import ALL_UP_TO, READS, Reading
from episodic.item_types import ItemGet, ItemName, ItemRead, ItemSearch, NamespaceList
from episodic.sizes import known_size, size_of
from episodic.types import EpisodeFilter
from episodic.vector_queries import Near
from tenants.caller import Caller
from tenants.embedding import embed_query, model_behind, try_embed, vector_literal
from tenants.errors import NotFound, Unavailable
from tenants.scope import scope

MOST_HASHED = 2_000_000  # items of which the planner makes a hash table

Vector = np.ndarray[Any, np.dtype[np.float32]]


def get_item(*, caller: Caller, name: ItemName, refresh: bool = True, now: datetime) -> str:
    """The item. Raises NotFound."""
    (found,) = read_items(caller=caller, reads=[ItemGet(name, refresh)], now=now)
    if found == "null":
        raise NotFound("There is no such item.")
    return found


def read_items(*, caller: Caller, reads: Sequence[ItemRead], now: datetime) -> list[str]:
    """What each of the reads finds, in their order: an item or `null`, an array of items with their scores,
    or an array of namespaces. Queries are embedded before, all at once. Raises Unavailable without the model
    for them, Invalid for a filter that is none."""
    vectors = _vectors(reads, caller.tenant_id)
    answers: list[str] = []
    for some in _together(reads):
        reading, gets = Reading(tenant_id=caller.tenant_id, now=now), _gets(some)
        for (user_id, refresh), names in gets.items():
            reading.get(user_id=user_id, digests=[one.digest for one in names], refresh=refresh)
        for one in some:
            _ask(reading, one, vectors, caller.tenant_id)
        found = list(reading.fetch())
        known = {
            (user_id, digest): shown
            for (user_id, _refresh), pairs in zip(gets, found, strict=False)
            for digest, shown in pairs or ()
        }
        others = iter(found[len(gets) :])
        for one in some:
            if isinstance(one, ItemGet):
                answers.append(known.get((one.name.whose.user_id, one.name.digest), "null"))
            else:
                answers.append(next(others))
    return answers


def _gets(reads: Sequence[ItemRead]) -> dict[tuple[str, bool], list[ItemName]]:
    gets: dict[tuple[str, bool], list[ItemName]] = {}
    for one in reads:
        if isinstance(one, ItemGet):
            gets.setdefault((one.name.whose.user_id, one.refresh), []).append(one.name)
    return gets


def _together(reads: Sequence[ItemRead]) -> Iterator[list[ItemRead]]:
    """What one statement reads: any number of items by their names, and some of the others."""
    count = 0

    def of_statement(one: ItemRead) -> int:
        nonlocal count
        count += not isinstance(one, ItemGet)
        return max(count - 1, 0) // READS

    return (list(some) for _number, some in groupby(reads, key=of_statement))


def _ask(reading: Reading, one: ItemRead, vectors: dict[str, Vector], tenant_id: UUID) -> None:
    if isinstance(one, NamespaceList):
        reading.namespaces(one)
    elif isinstance(one, ItemSearch):
        if one.vector:
            vector = json.dumps(one.vector)
            reading.search(one, query=vector, model="", dimensions=len(one.vector), promising=0)
        elif one.query:
            _ask_server(reading, one, vectors[one.query], tenant_id)
        else:
            reading.search(one, query="", model="", dimensions=0, promising=0)


def _ask_server(reading: Reading, one: ItemSearch, vector: Vector, tenant_id: UUID) -> None:
    model = model_behind(vector, tenant_id=tenant_id)
    reading.search(
        one,
        query=vector_literal(vector),
        model=model,
        dimensions=len(vector),
        promising=_promising(one, vector, model, tenant_id),
    )


def _promising(one: ItemSearch, vector: Vector, model: str, tenant_id: UUID) -> int:
    """How many are compared exactly after a first pass by signatures; 0: all that there are."""
    if one.distance != "cosine":  # signs tell of directions alone
        return 0
    where = EpisodeFilter(user_id=one.whose.user_id)
    size = known_size(tenant_id=tenant_id, model=model, where=where)
    if size is None:
        with scope(tenant_id):
            size = size_of(tenant_id=tenant_id, model=model, where=where)
    if not ALL_UP_TO < size.vectors <= MOST_HASHED:
        return 0
    near = Near(tenant_id, model, vector, where, size)
    promising = near.promising(one.offset + one.limit, "signatures")
    return promising if promising <= size.vectors / 2 else 0


def _vectors(reads: Sequence[ItemRead], tenant_id: UUID) -> dict[str, Vector]:
    """Of the queries that the server is to embed."""
    asked = [one.query for one in reads if isinstance(one, ItemSearch) and one.query and not one.vector]
    queries = list(dict.fromkeys(asked))
    if len(queries) == 1:
        return {queries[0]: embed_query(queries[0], tenant_id=tenant_id)}
    if not queries:
        return {}
    vectors = try_embed(queries, tenant_id=tenant_id)
    if vectors is None:
        raise Unavailable("The embedding model is away.")
    return dict(zip(queries, vectors, strict=True))
