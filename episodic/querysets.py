"""The SQL of episodes: filters, what ranks a candidate, a statement's like."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from numpy.typing import NDArray

from episodic.conditions import params_of
from episodic.models import Episode
from episodic.record_tests import numbered_conditions
from episodic.types import Candidate, EpisodeFilter, EpisodeTraits
from tenants.embedding import vector_literal

SLOT_VALUES = """
SELECT value FROM user_entities
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = 'current'
ORDER BY key LIMIT %(limit)s
"""
# What ranks a candidate. Its text only if somebody looks into it: texts can be long.
TRAITS = """
SELECT id, coalesce(event_date, created_at), entities || topics, CASE WHEN %(texts)s THEN text ELSE '' END
FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::uuid[])
"""

# The newest statements of one memory that still hold, by likeness to another: so many are compared at most.
MOST_FACTS = 2_000
FACTS = """
SELECT episode_id, embedding <=> %(query)s::vector AS distance
FROM episode_embeddings
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND model = %(model)s AND valid_to IS NULL
  AND episode_id = ANY (ARRAY(
    SELECT id FROM agent_episodes
    WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND agent_id = %(agent)s AND project = %(project)s
          AND namespace = %(namespace)s AND memory_type = 'semantic' AND valid_to IS NULL
    ORDER BY created_at DESC LIMIT %(most)s))
ORDER BY distance, episode_id
LIMIT %(limit)s
"""

# Written out: to have the ORM compose it at every search costs more than PostgreSQL takes to answer.
COLUMNS = ", ".join(field.column for field in Episode._meta.concrete_fields if field.column)
BY_ID = f"SELECT {COLUMNS} FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)"  # noqa: S608
STORED = "SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)"


def traits(
    *, tenant_id: UUID, cosines: Mapping[UUID, tuple[float, bool]], with_texts: bool
) -> list[Candidate]:
    """What ranks these candidates, in their order; each with its cosine and whether it is there for its age
    alone."""
    with connection.cursor() as cursor:
        # As one literal: to adapt each id takes longer than the query.
        ids = f"{{{','.join(map(str, cosines))}}}"
        cursor.execute(TRAITS, {"tenant": tenant_id, "ids": ids, "texts": with_texts})
        found = {one: rest for one, *rest in cursor.fetchall()}
    return [Candidate(one, *cosines[one], *found[one]) for one in cosines if one in found]


def slot_values(*, tenant_id: UUID, user_id: str, limit: int) -> list[Any]:
    """What the user's slots hold now. Written out, as it is asked at every recall."""
    with connection.cursor() as cursor:
        cursor.execute(SLOT_VALUES, {"tenant": tenant_id, "user": user_id, "limit": limit})
        return [json.loads(value) for (value,) in cursor.fetchall()]


def by_id(*, tenant_id: UUID, ids: list[UUID]) -> dict[UUID, Episode]:
    """Those of the episodes that are there."""
    found = Episode.objects.raw(BY_ID, {"tenant": tenant_id, "ids": ids})
    return {one.id: one for one in found}


def stored_ids(*, tenant_id: UUID, ids: list[UUID]) -> list[UUID]:
    """Those of the ids that there are episodes of. In the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(STORED, {"tenant": tenant_id, "ids": ids})
        return [one for (one,) in cursor.fetchall()]


def nearest_facts(*, like: Episode, model: str, query: NDArray[np.float32], limit: int) -> dict[UUID, float]:
    """Ids and cosine similarities of the statements of the same user, agent, project and namespace as `like`
    that still hold and are the `limit` nearest to `query`; best first."""
    params: dict[str, Any] = {
        "tenant": like.tenant_id,
        "user": like.user_id,
        "agent": like.agent_id,
        "project": like.project,
        "namespace": like.namespace,
        "model": model,
        "query": vector_literal(query),
        "most": MOST_FACTS,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(FACTS, params)
        return {episode_id: 1 - float(distance) for episode_id, distance in cursor.fetchall()}


def matching(*, tenant_id: UUID, where: EpisodeFilter) -> Q:
    """The same conditions for lists."""
    columns = {"session_id": "session", "memory_types": "memory_type__in", "topics": "topics__overlap"}
    times = {"since": "created_at__gte", "until": "created_at__lte"}
    condition = Q(tenant_id=tenant_id) & _validity(where)
    for name, value in params_of(replace(where, as_of=None, tests=())).items():
        condition &= Q(**{columns.get(name) or times.get(name) or name: value})
    for sql, params in numbered_conditions(where.tests):
        condition &= Q(RawSQL(sql, params, BooleanField()))  # noqa: S611 - values stay parameters
    return condition


def having(traits: EpisodeTraits) -> Q:
    """The conditions of these traits, for lists."""
    named = {"origin": traits.origin, "outcome": traits.outcome}
    condition = Q(**{name: value for name, value in named.items() if value is not None})
    return condition if traits.pinned is None else condition & Q(pinned_at__isnull=not traits.pinned)


def _validity(where: EpisodeFilter) -> Q:
    if where.as_of is not None:
        begun = Q(valid_from__lte=where.as_of) | Q(valid_from=None, created_at__lte=where.as_of)
        return begun & (Q(valid_to=None) | Q(valid_to__gt=where.as_of))
    return Q() if where.history else Q(valid_to=None) | Q(valid_to__gt=Now())
