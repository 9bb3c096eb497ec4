"""The SQL of accesses: noting them, and what a ranking by recency looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from episodic.conditions import conditions_of, joined, params_of
from episodic.types import EpisodeFilter
from tenants.embedding import vector_literal

# In the order of ids: writers that met in another order would deadlock. An episode that is gone is not found,
# and takes its row along: no trace of it can come back. One that goes while this runs fails the statement.
NOTE = """
INSERT INTO episode_access AS known (id, tenant_id, user_id, agent_id, last_accessed_at, access_count)
SELECT e.id, e.tenant_id, e.user_id, e.agent_id, new.at, 1
FROM unnest(%(ids)s::uuid[], %(moments)s::timestamptz[]) AS new (id, at)
JOIN agent_episodes e ON e.tenant_id = %(tenant)s AND e.id = new.id
ORDER BY e.id
ON CONFLICT (tenant_id, id) DO UPDATE
SET last_accessed_at = excluded.last_accessed_at, access_count = known.access_count + 1
WHERE known.last_accessed_at <= excluded.last_accessed_at - %(apart)s * interval '1 second'
"""
# The last used come first from the index, and each is looked up until there are enough.
LAST_USED = """
SELECT a.id FROM episode_access a
CROSS JOIN LATERAL (SELECT id FROM agent_episodes
                    WHERE tenant_id = %(tenant)s AND id = a.id {conditions} OFFSET 0) admitted
WHERE a.tenant_id = %(tenant)s {subject}
ORDER BY a.last_accessed_at DESC LIMIT %(limit)s
"""
SUBJECT = {"user_id": "a.user_id = %(user_id)s", "agent_id": "a.agent_id = %(agent_id)s"}
# Those that have no vector are left out: by likeness they cannot be ranked. Each step is one of an index:
# OFFSET 0 keeps the planner from reading all of a table that it takes for small until it is analysed.
USES = """
SELECT k.id, 1 - (v.embedding <=> %(query)s::vector), extract(epoch FROM e.created_at)::float8,
       extract(epoch FROM coalesce(e.event_date, e.created_at))::float8,
       extract(epoch FROM {last})::float8
FROM unnest(%(ids)s::text::uuid[]) AS k (id)
CROSS JOIN LATERAL (SELECT created_at, event_date FROM agent_episodes
                    WHERE tenant_id = %(tenant)s AND id = k.id OFFSET 0) e
CROSS JOIN LATERAL (SELECT embedding FROM episode_embeddings
                    WHERE tenant_id = %(tenant)s AND episode_id = k.id AND model = %(model)s OFFSET 0) v
{accesses}
"""
ACCESSES = """
LEFT JOIN LATERAL (SELECT last_accessed_at FROM episode_access
                   WHERE tenant_id = %(tenant)s AND id = k.id OFFSET 0) a ON TRUE
"""
USES_WITH_ACCESSES = USES.format(last="coalesce(a.last_accessed_at, e.created_at)", accesses=ACCESSES)
USES_WITHOUT_ACCESSES = USES.format(last="e.created_at", accesses="")


@dataclass(frozen=True, slots=True)
class Used:
    """A candidate and its use; moments in seconds since 1970. One that was never recalled was last used when
    it was written."""

    id: UUID
    cosine: float
    created_at: float
    happened_at: float
    accessed_at: float


def note(*, tenant_id: UUID, accesses: Mapping[UUID, datetime], apart: int) -> None:
    """Counts an access of each, or not if one was counted less than `apart` seconds before. In a scope."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "ids": list(accesses),
        "moments": list(accesses.values()),
        "apart": apart,
    }
    with connection.cursor() as cursor:
        cursor.execute(NOTE, params)


def last_used(*, tenant_id: UUID, where: EpisodeFilter, limit: int) -> list[UUID]:
    """The ids of those that were recalled last and that `where` admits. In the open scope."""
    params = params_of(where)
    subject, further = conditions_of(where, params)
    statement = LAST_USED.format(
        conditions=joined(subject + further),
        subject=joined([sql for name, sql in SUBJECT.items() if name in params]),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {"tenant": tenant_id, "limit": limit})
        return [one for (one,) in cursor.fetchall()]


def uses(
    *, tenant_id: UUID, ids: Sequence[UUID], query: NDArray[np.float32], model: str, with_accesses: bool
) -> list[Used]:
    """Of these episodes, with the cosine to `query`, shape (dimensions,), by `model`. In the open scope."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "ids": f"{{{','.join(map(str, ids))}}}",  # to adapt each id takes longer than the query
        "query": vector_literal(query),
        "model": model,
    }
    with connection.cursor() as cursor:
        cursor.execute(USES_WITH_ACCESSES if with_accesses else USES_WITHOUT_ACCESSES, params)
        return [Used(*row) for row in cursor.fetchall()]
