"""How many vectors a subject has and what their signs tell, by which a search chooses its way; and whether
a graph leads to them. Kept for a minute: what has changed since costs a search time, and no memory."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from episodic.types import EpisodeFilter

SERVES = 60.0  # seconds
SUBJECTS_KEPT = 10_000

SAMPLED_FROM, SAMPLE = 1_000, 200  # vectors of a subject from which so many signatures are looked at

COUNT = "SELECT count(*) FROM episode_embeddings WHERE tenant_id = %(tenant)s AND model = %(model)s"
SIGNATURES = "SELECT signature FROM episode_embeddings WHERE tenant_id = %(tenant)s AND model = %(model)s"
GRAPH = """
SELECT greatest(c.reltuples, 0)::bigint, EXISTS (
    SELECT FROM pg_index i JOIN pg_class g ON g.oid = i.indexrelid JOIN pg_am a ON a.oid = g.relam
    WHERE i.indrelid = c.oid AND i.indisvalid AND a.amname = 'hnsw'
          AND strpos(pg_get_expr(i.indpred, i.indrelid), quote_literal(%(model)s)) > 0)
FROM pg_class c WHERE c.oid = 'episode_embeddings'::regclass
"""
OF_USER, OF_AGENT = " AND user_id = %(user)s", " AND agent_id = %(agent)s"


@dataclass(frozen=True, slots=True)
class Size:
    """Of a subject: its number of vectors, and the entropy of their signs in bits per dimension, from 0 to 1.
    Vectors that all lean to one side have the same signs, and these tell nothing of them."""

    vectors: int
    entropy: float = 1.0


_Subject = tuple[UUID, str, str | None, str | None]
_lock = threading.Lock()
_kept: OrderedDict[_Subject, tuple[float, Size]] = OrderedDict()
_graphs: dict[str, tuple[float, int]] = {}


def size_of(*, tenant_id: UUID, model: str, where: EpisodeFilter) -> Size:
    """Of the user, else of the agent, else of all the tenant, by `model`. In an open scope."""
    if (size := known_size(tenant_id=tenant_id, model=model, where=where)) is not None:
        return size
    subject = _subject_of(tenant_id, model, where)
    size = _count(subject)
    with _lock:
        _kept.pop(subject, None)
        _kept[subject] = (time.monotonic() + SERVES, size)
        if len(_kept) > SUBJECTS_KEPT:
            _kept.popitem(last=False)
    return size


def known_size(*, tenant_id: UUID, model: str, where: EpisodeFilter) -> Size | None:
    """Likewise, if it was counted lately; for whoever has no scope open."""
    subject = _subject_of(tenant_id, model, where)
    with _lock:
        until, size = _kept.get(subject, (0.0, None))
        if size is None or time.monotonic() >= until:
            return None
        _kept.move_to_end(subject)
        return size


def vectors_in_graph(model: str) -> int:
    """About how many vectors of all tenants together the approximate index of the model leads to; 0 without
    one. In an open scope."""
    until, vectors = _graphs.get(model, (0.0, 0))
    if time.monotonic() < until:
        return vectors
    with connection.cursor() as cursor:
        cursor.execute(GRAPH, {"model": model})
        rows, is_there = cursor.fetchone()
    _graphs[model] = (time.monotonic() + SERVES, rows if is_there else 0)
    return _graphs[model][1]


def forget_sizes() -> None:
    """What was counted serves no more."""
    with _lock:
        _kept.clear()
    _graphs.clear()


def entropy_of(signatures: Sequence[str]) -> float:
    """Bits that a sign tells, as a mean of the dimensions: 1 where as many vectors are above 0 as below."""
    signs = np.array([np.frombuffer(one.encode(), dtype=np.uint8) for one in signatures]) == ord("1")
    share = signs.mean(axis=0).clip(1e-9, 1 - 1e-9)
    return float(-(share * np.log2(share) + (1 - share) * np.log2(1 - share)).mean())


def _subject_of(tenant_id: UUID, model: str, where: EpisodeFilter) -> _Subject:
    return tenant_id, model, where.user_id, where.agent_id if not where.user_id else None


def _count(subject: _Subject) -> Size:
    tenant_id, model, user_id, agent_id = subject
    condition = (OF_USER if user_id is not None else "") + (OF_AGENT if agent_id is not None else "")
    params: dict[str, Any] = {"tenant": tenant_id, "model": model, "user": user_id, "agent": agent_id}
    with connection.cursor() as cursor:
        cursor.execute(COUNT + condition, params)
        vectors = int(cursor.fetchone()[0])
        if vectors <= SAMPLED_FROM:
            return Size(vectors)
        cursor.execute(f"{SIGNATURES}{condition} LIMIT {SAMPLE}", params)
        return Size(vectors, entropy_of([one for (one,) in cursor.fetchall()]))
