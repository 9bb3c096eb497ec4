"""What a search costs at least: one query that compares every vector of the subject, and the episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from episodic.types import EpisodeFilter
    from episodic.vector_queries import Vector


def search(*, tenant_id: UUID, model: str, vector: Vector, where: EpisodeFilter, limit: int) -> list[object]:
    """The nearest episodes, best first."""
    from episodic.querysets import by_id
    from episodic.sizes import Size
    from episodic.vector_queries import Near, nearest_ids
    from tenants.scope import scope

    with scope(tenant_id):
        near = Near(tenant_id, model, vector, where, Size(0))
        cosines = nearest_ids(near, limit=limit, way="exact")
        found = by_id(tenant_id=tenant_id, ids=list(cosines))
    return [found[one] for one in cosines]
