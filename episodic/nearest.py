"""The nearest in meaning, by the quickest way that does not lose them. In an open scope.

Measured over a million vectors of a thousand tenants (docs/performance.md): to compare all takes one to two
milliseconds for each thousand; signatures find 98 of a hundred or more in a fraction of that, whatever else
is in the table; a graph leads through everybody's vectors, and pays only where most are the subject's.
"""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from episodic import vector_queries
from episodic.monitoring import watch
from episodic.sizes import SAMPLED_FROM, size_of, vectors_in_graph
from episodic.types import EpisodeFilter, Wanted
from episodic.vector_queries import Near, Vector, Way

EXACT_UP_TO = SAMPLED_FROM  # vectors of a subject that are all compared
GRAPH_FROM = 250_000  # … from which a graph is asked, if there is one
GRAPH_SHARE = 0.2  # of all vectors in it that are the subject's

Found = TypeVar("Found", dict[UUID, float], dict[UUID, tuple[float, bool]])


def nearest_ids(
    *, tenant_id: UUID, model: str, vector: Vector, where: EpisodeFilter, limit: int
) -> dict[UUID, float]:
    """The cosines of the `limit` nearest to `vector`, shape (dimensions,), by `model`; best first. As many as
    are wanted, or all that `where` admits."""
    near = near_to(tenant_id=tenant_id, model=model, vector=vector, where=where)

    def ask(way: Way) -> dict[UUID, float]:
        return vector_queries.nearest_ids(near, limit=limit, way=way)

    return _found(near, ask, limit, list)


def candidate_ids(
    *, tenant_id: UUID, model: str, vector: Vector, where: EpisodeFilter, wanted: Wanted
) -> dict[UUID, tuple[float, bool]]:
    """The nearest, likewise, and then those of the newest that are not among them: the cosine of each, and
    whether it is there for its age alone."""
    near = near_to(tenant_id=tenant_id, model=model, vector=vector, where=where)

    def ask(way: Way) -> dict[UUID, tuple[float, bool]]:
        return vector_queries.candidate_ids(near, wanted=wanted, way=way)

    return _found(near, ask, wanted.nearest, _nearest_of)


def near_to(*, tenant_id: UUID, model: str, vector: Vector, where: EpisodeFilter) -> Near:
    """What is looked for, with what is known of the subject."""
    where = where.narrowed()
    return Near(tenant_id, model, vector, where, size_of(tenant_id=tenant_id, model=model, where=where))


def way_to(near: Near, wanted: int) -> Way:
    """How the nearest of so many are looked for."""
    vectors = near.size.vectors
    if vectors <= EXACT_UP_TO:
        return "exact"
    if vectors >= GRAPH_FROM and vectors >= GRAPH_SHARE * vectors_in_graph(near.model) > 0:
        return "graph"
    # To look each of most of them up costs more than to read all.
    return "signatures" if near.promising(wanted, "signatures") <= vectors / 2 else "exact"


def _found(
    near: Near, ask: Callable[[Way], Found], wanted: int, nearest_of: Callable[[Found], list[UUID]]
) -> Found:
    way = way_to(near, wanted)
    found = ask(way)
    if way == "graph" and len(nearest_of(found)) < wanted:  # it came to its end among others' vectors
        way = "signatures"
        found = ask(way)
    if way != "exact":
        watch(near, nearest_of(found), wanted, way)
    return found


def _nearest_of(found: dict[UUID, tuple[float, bool]]) -> list[UUID]:
    return [one for one, (_cosine, is_new) in found.items() if not is_new]
