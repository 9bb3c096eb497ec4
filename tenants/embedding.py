"""From text to vectors, on a tenant's account. Never inside a scope: a provider may take its time."""

import contextvars
import logging
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from providers.embeddings import EmbeddingRejected, EmbeddingUnavailable, get_embedder
from tenants.errors import Unavailable
from tenants.scope import forget_scope
from tenants.usage import metered

log = logging.getLogger(__name__)
MOST_REJECTED = 4  # texts of one batch, each of which is looked for in some requests
PROBE = "Hello."  # what any model takes
_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="embed")


def embed_query(text: str, *, tenant_id: UUID) -> NDArray[np.float32]:
    """The query's vector, shape (dimensions,). Raises Unavailable when the model does not answer."""
    try:
        with metered(tenant_id):
            vectors = get_embedder().embed([text], purpose="embed_query", interactive=True)
    except EmbeddingUnavailable as error:
        away = Unavailable("The embedding model is away.")
        away.retry_after = max(math.ceil(error.retry_after or 0), Unavailable.retry_after)
        raise away from error
    vector: NDArray[np.float32] = vectors[0]
    return vector


def embed_meanwhile(text: str, *, tenant_id: UUID) -> Callable[[], NDArray[np.float32]]:
    """Begins `embed_query` in another thread, and answers what waits for it: the local model and PostgreSQL
    are busy at the same time then. It may be begun in a scope, and waited for outside of any."""
    context = contextvars.copy_context()
    context.run(forget_scope)
    return _threads.submit(context.run, partial(embed_query, text, tenant_id=tenant_id)).result


def try_embed(
    texts: Sequence[str], *, tenant_id: UUID, interactive: bool = True
) -> NDArray[np.float32] | None:
    """Vectors, shape (len(texts), dimensions); None when the model is away."""
    try:
        with metered(tenant_id):
            return get_embedder().embed(texts, interactive=interactive)
    except EmbeddingUnavailable as error:
        log.warning("embedding_unavailable: %s", error)
        return None


def embed_accepted(
    texts: Sequence[str], *, tenant_id: UUID
) -> tuple[NDArray[np.float32] | None, frozenset[int]]:
    """Vectors of the texts that the model takes, None if it takes too few; and the positions of the others.

    A server that rejects everything is set up wrongly: then no text is to blame, and EmbeddingUnavailable is
    raised, as it is when the model is away.
    """
    left = list(range(len(texts)))
    rejected: list[int] = []
    while left and len(rejected) < MOST_REJECTED:
        try:
            return _embed([texts[position] for position in left], tenant_id), frozenset(rejected)
        except EmbeddingRejected as error:
            if not rejected:
                _embed([PROBE], tenant_id)
            rejected.append(left.pop(error.position))
    return None, frozenset(rejected)


def vector_literal(vector: NDArray[np.float32]) -> str:
    """The vector as pgvector reads it. Nine digits give back every float32 exactly; `str` would write
    twice as many, and take three times as long."""
    return "[" + (",".join(["%.9g"] * len(vector)) % tuple(vector.tolist())) + "]"


def _embed(texts: list[str], tenant_id: UUID) -> NDArray[np.float32]:
    with metered(tenant_id):
        return get_embedder().embed(texts)
