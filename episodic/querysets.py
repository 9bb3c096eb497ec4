"""The SQL of episodes: filters, exact nearest neighbours, pending work."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now
from numpy.typing import NDArray

from episodic.models import Episode
from episodic.types import Candidate, EpisodeFilter, Neighbour, Wanted
from tenants.embedding import vector_literal

# The subject's columns stand in both tables; the rest is known to the episodes alone.
SUBJECT_CONDITIONS = {"user_id": "user_id = %(user_id)s", "agent_id": "agent_id = %(agent_id)s"}
EPISODE_CONDITIONS = {
    "project": "project = %(project)s",
    "session_id": "session = %(session_id)s",
    "namespace": "namespace = %(namespace)s",
    "memory_types": "memory_type = ANY(%(memory_types)s)",
    "topics": "topics && %(topics)s",
    "since": "coalesce(event_date, created_at) >= %(since)s",
    "until": "coalesce(event_date, created_at) <= %(until)s",
}

# Both tables know the end of an episode's validity, the episodes alone its begin.
HOLDS_NOW = "(valid_to IS NULL OR valid_to > now())"
HELD = "coalesce(valid_from, created_at) <= %(as_of)s AND (valid_to IS NULL OR valid_to > %(as_of)s)"

# Every vector of the subject is compared: asking for k where k match always answers k.
NEAREST = """
SELECT episode_id, embedding <=> %(query)s::vector AS distance
FROM episode_embeddings
WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
ORDER BY distance, episode_id
LIMIT %(limit)s
"""
# An array, not a join: on a table that was just filled and not analysed yet, the planner takes both sides for
# one row and joins them in a time that grows with the square of the subject.
AMONG = "episode_id = ANY (ARRAY(SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s{conditions}))"

# The nearest, and the newest whatever they are like; each is compared exactly. One that is both comes twice.
CANDIDATES = """
(SELECT episode_id, embedding <=> %(query)s::vector AS distance, FALSE AS is_new
 FROM episode_embeddings
 WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
 ORDER BY distance, episode_id
 LIMIT %(limit)s)
UNION ALL
(SELECT episode_id, embedding <=> %(query)s::vector AS distance, TRUE AS is_new
 FROM episode_embeddings
 WHERE tenant_id = %(tenant)s AND model = %(model)s AND episode_id = ANY (ARRAY(
   SELECT id FROM agent_episodes
   WHERE tenant_id = %(tenant)s AND NOT embed_pending {newest}
   ORDER BY created_at DESC, id DESC
   LIMIT %(newest)s))
 ORDER BY distance, episode_id)
"""
WRITTEN_SINCE = "created_at >= %(written_since)s"
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


def nearest(
    *, tenant_id: UUID, model: str, query: NDArray[np.float32], where: EpisodeFilter, limit: int
) -> list[Neighbour]:
    """The `limit` episodes nearest to `query`, shape (dimensions,), by `model`; best first."""
    params = _params(where) | {
        "tenant": tenant_id,
        "model": model,
        "query": vector_literal(query),
        "limit": limit,
    }
    subject, further = _conditions(where, params)
    among = [AMONG.format(conditions=_all(subject + further))] if further else []
    with connection.cursor() as cursor:
        cursor.execute(NEAREST.format(conditions=_all(subject + among)), params)
        ranked = cursor.fetchall()
    found = by_id(tenant_id=tenant_id, ids=[episode_id for episode_id, _distance in ranked])
    # One that was deleted since the ranking is left out.
    return [Neighbour(found[one], 1 - float(distance)) for one, distance in ranked if one in found]


def candidates(
    *,
    tenant_id: UUID,
    model: str,
    query: NDArray[np.float32],
    where: EpisodeFilter,
    wanted: Wanted,
    with_texts: bool,
) -> list[Candidate]:
    """The episodes nearest to `query`, shape (dimensions,), by `model`, best first; after them those of the
    newest that are not among them."""
    cosines = candidate_ids(tenant_id=tenant_id, model=model, query=query, where=where, wanted=wanted)
    with connection.cursor() as cursor:
        # As one literal: to adapt each id takes longer than the query.
        ids = f"{{{','.join(map(str, cosines))}}}"
        cursor.execute(TRAITS, {"tenant": tenant_id, "ids": ids, "texts": with_texts})
        traits = {one: rest for one, *rest in cursor.fetchall()}
    return [Candidate(one, *cosines[one], *traits[one]) for one in cosines if one in traits]


def candidate_ids(
    *, tenant_id: UUID, model: str, query: NDArray[np.float32], where: EpisodeFilter, wanted: Wanted
) -> dict[UUID, tuple[float, bool]]:
    """Likewise their ids, with the cosine and whether it is there for its age alone."""
    params = _params(where) | {
        "tenant": tenant_id,
        "model": model,
        "query": vector_literal(query),
        "limit": wanted.nearest,
        "newest": wanted.newest,
        "written_since": wanted.written_since,
    }
    subject, further = _conditions(where, params)
    if wanted.written_since is not None:
        further.append(WRITTEN_SINCE)
    among = [AMONG.format(conditions=_all(subject + further))] if further else []
    conditions = {
        "conditions": _all(subject + among),
        "newest": _all(subject + further),
    }
    with connection.cursor() as cursor:
        cursor.execute(CANDIDATES.format(**conditions), params)
        cosines: dict[UUID, tuple[float, bool]] = {}
        for episode_id, distance, is_new in cursor.fetchall():
            cosines.setdefault(episode_id, (1 - float(distance), is_new))
    return cosines


def slot_values(*, tenant_id: UUID, user_id: str, limit: int) -> list[Any]:
    """What the user's slots hold now. Written out, as it is asked at every recall."""
    with connection.cursor() as cursor:
        cursor.execute(SLOT_VALUES, {"tenant": tenant_id, "user": user_id, "limit": limit})
        return [json.loads(value) for (value,) in cursor.fetchall()]


def by_id(*, tenant_id: UUID, ids: list[UUID]) -> dict[UUID, Episode]:
    """Those of the episodes that are there."""
    found = Episode.objects.raw(BY_ID, {"tenant": tenant_id, "ids": ids})
    return {one.id: one for one in found}


def _conditions(where: EpisodeFilter, params: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What both tables know, and what the episodes alone know, of the conditions in `params`."""
    subject = [sql for name, sql in SUBJECT_CONDITIONS.items() if name in params]
    further = [sql for name, sql in EPISODE_CONDITIONS.items() if name in params]
    if where.as_of is not None:
        further.append(HELD)
    elif not where.history:
        subject.append(HOLDS_NOW)
    return subject, further


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
    for name, value in _params(where).items():
        if name != "as_of":
            condition &= Q(**{columns.get(name) or times.get(name) or name: value})
    return condition


def _validity(where: EpisodeFilter) -> Q:
    if where.as_of is not None:
        begun = Q(valid_from__lte=where.as_of) | Q(valid_from=None, created_at__lte=where.as_of)
        return begun & (Q(valid_to=None) | Q(valid_to__gt=where.as_of))
    return Q() if where.history else Q(valid_to=None) | Q(valid_to__gt=Now())


def _all(conditions: list[str]) -> str:
    return "".join(f" AND {sql}" for sql in conditions)


def _params(where: EpisodeFilter) -> dict[str, Any]:
    """The conditions that are set."""
    names = ("user_id", "agent_id", "project", "session_id", "namespace", "memory_types", "topics")
    given = {name: getattr(where, name) for name in (*names, "since", "until", "as_of")}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }
