"""Search in documents, by words and by meaning. Only for whoever asks for it: recall never does."""

import logging
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from knowledge import querysets
from knowledge.keyword import Matched, match_words
from knowledge.models import Document
from knowledge.querysets import Size
from knowledge.reach import reach_of, seen
from knowledge.types import ChunkFilter, ChunkHit, Reach
from lexical.analysis import analyse_query
from tenants.caller import Caller
from tenants.embedding import embed_query, model_behind
from tenants.errors import Unavailable
from tenants.scope import scope

log = logging.getLogger(__name__)
KEYWORD_SHARE = 0.5  # of a score; the rest is likeness in meaning
LEAST_COSINE = 0.3  # what is less alike in meaning is not like the query at all
ARM = 50  # candidates that words and meaning bring each, at least
EXACT_UP_TO = 5_000  # chunks of which every vector is compared
APPROXIMATE_FROM = 0.05  # share of all vectors below which the index would mostly find others' ones


def search_chunks(*, caller: Caller, query: str, top_k: int, where: ChunkFilter) -> list[ChunkHit]:
    """The `top_k` chunks that answer the query best, within the key's reach: those that hold its words or are
    like it in meaning; with the embedding model away, the former alone. Every document is seen as it was at
    one moment. Raises Forbidden when `where` names another project or user than the key is bound to."""
    reach = reach_of(caller, project=where.project, user_id=where.user_id)
    phrases = analyse_query(query)
    vector = _vector(caller, query)
    limit = max(ARM, top_k)
    with scope(caller.tenant_id):
        querysets.freeze()
        documents = _named(reach, where)
        if documents == []:
            return []
        size = querysets.size_of(reach)
        if not size.chunks:
            return []
        words = match_words(reach=reach, size=size, phrases=phrases, documents=documents, limit=limit)
        meaning = {} if vector is None else _nearest(reach, size, vector, documents, limit)
        return _hits(reach.tenant_id, words, meaning, top_k)


def _named(reach: Reach, where: ChunkFilter) -> list[UUID] | None:
    """The documents that the filter names; None: any."""
    if not where.names_documents:
        return None
    found = Document.objects.filter(seen(reach))
    if where.source is not None:
        found = found.filter(source=where.source)
    if where.title is not None:
        found = found.filter(title=where.title)
    if where.metadata:
        found = found.filter(metadata__contains=dict(where.metadata))
    return list(found.values_list("id", flat=True))


def _vector(caller: Caller, query: str) -> NDArray[np.float32] | None:
    try:
        return embed_query(query, tenant_id=caller.tenant_id)
    except Unavailable:
        log.warning("search_by_meaning_skipped: the embedding model is away")
        return None


def _nearest(
    reach: Reach, size: Size, vector: NDArray[np.float32], documents: Sequence[UUID] | None, limit: int
) -> dict[UUID, float]:
    """Exactly among few, by the index where that finds mostly what is meant, and exactly once more if that
    finds too few."""
    few = max(EXACT_UP_TO, APPROXIMATE_FROM * querysets.count_vectors())
    found: dict[UUID, float] = {}
    for exact in [True] if documents is not None or size.chunks <= few else [False, True]:
        found = querysets.nearest(
            reach=reach,
            model=model_behind(vector, tenant_id=reach.tenant_id),
            query=vector,
            documents=documents,
            limit=limit,
            exact=exact,
        )
        if len(found) >= limit:
            break
    return {one: cosine for one, cosine in found.items() if cosine >= LEAST_COSINE}


def _hits(tenant_id: UUID, words: Matched, meaning: Mapping[UUID, float], top_k: int) -> list[ChunkHit]:
    found = words.scores.keys() | meaning.keys()
    ranked = sorted(
        ((one, _score(one, words, meaning)) for one in found), key=lambda item: (-item[1], item[0])
    )
    best = ranked[:top_k]
    chunks = querysets.chunks_by_id(tenant_id, [one for one, _score in best])
    named = {chunk.document_id for chunk in chunks.values()}
    documents = Document.objects.filter(tenant_id=tenant_id, id__in=named).in_bulk()
    hits = []
    for one, score in best:
        signals = {"bm25": words.scores.get(one, 0.0), "cosine": meaning.get(one, 0.0)}
        hits.append(ChunkHit(chunks[one], documents[chunks[one].document_id], score, signals))
    return hits


def _score(chunk_id: UUID, words: Matched, meaning: Mapping[UUID, float]) -> float:
    """From 0 to 1, and not relative to the other hits: the share of what words can score at most, and the
    cosine."""
    by_words = words.scores.get(chunk_id, 0.0) / words.most
    return KEYWORD_SHARE * by_words + (1 - KEYWORD_SHARE) * min(meaning.get(chunk_id, 0.0), 1.0)
