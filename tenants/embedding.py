"""From text to vectors, on a tenant's account. Never inside a scope: a provider may take its time."""

import contextvars
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from providers.embeddings import EmbeddingRejected, EmbeddingUnavailable, get_embedder
from tenants.errors import Unavailable
from tenants.generations import model_of, reading_by
from tenants.scope import forget_scope
from tenants.usage import metered

log = logging.getLogger(__name__)
MOST_REJECTED = 4  # texts of one batch, each of which is looked for in some requests
PROBE = "Hello."  # what any model takes
_known: ContextVar[tuple[str | None, NDArray[np.float32] | None]] = ContextVar("known", default=(None, None))
_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="embed")


class Embedding(np.ndarray[tuple[int, ...], np.dtype[np.float32]]):
    """Vectors that know which model has made them, and so do their rows: between the embedding of a text and
    what is done with its vector, the tenant may have gone over to another model."""

    model: str

    def __array_finalize__(self, parent: object) -> None:
        self.model = getattr(parent, "model", "")


@contextmanager
def knowing(text: str, vector: NDArray[np.float32] | None) -> Iterator[None]:
    """In the block, this is the vector of the text by itself, for every tenant; None: the model is away. No
    provider is asked for it, so that a transaction may be open."""
    token = _known.set((text, vector))
    try:
        yield
    finally:
        _known.reset(token)


def model_behind(vector: NDArray[np.float32] | None, *, tenant_id: UUID) -> str:
    """The model whose vectors `vector` can be compared with, and beside which it is stored; of one that no
    function of this module made, and of None, the tenant's."""
    return getattr(vector, "model", "") or model_of(tenant_id)


def embed_query(text: str, *, tenant_id: UUID) -> NDArray[np.float32]:
    """The query's vector, shape (dimensions,). Raises Unavailable when the model does not answer."""
    try:
        vectors = _asked([text], tenant_id, purpose="embed_query", interactive=True)
    except EmbeddingUnavailable as error:
        away = Unavailable("The embedding model is away.")
        away.retry_after = max(math.ceil(error.retry_after or 0), Unavailable.retry_after)
        raise away from error
    vector: NDArray[np.float32] = vectors[0]
    return vector


def embed_meanwhile(text: str, *, tenant_id: UUID) -> Callable[[], NDArray[np.float32]]:
    """Begins `embed_query` in another thread, and answers what waits for it: the local model and PostgreSQL
    are busy at the same time then. It may be begun in a scope, and waited for outside of any."""
    model = model_of(tenant_id)  # here, as the other thread would need a connection of its own
    context = contextvars.copy_context()
    context.run(forget_scope)
    return _threads.submit(context.run, partial(_embed_query_by, model, text, tenant_id)).result


def try_embed(
    texts: Sequence[str], *, tenant_id: UUID, interactive: bool = True
) -> NDArray[np.float32] | None:
    """Vectors, shape (len(texts), dimensions); None when the model is away."""
    try:
        return _asked(texts, tenant_id, interactive=interactive)
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


def _embed_query_by(model: str, text: str, tenant_id: UUID) -> NDArray[np.float32]:
    with reading_by(model):
        return embed_query(text, tenant_id=tenant_id)


def _embed(texts: list[str], tenant_id: UUID) -> NDArray[np.float32]:
    return _asked(texts, tenant_id)


def _asked(
    texts: Sequence[str], tenant_id: UUID, *, purpose: str = "embed", interactive: bool = False
) -> NDArray[np.float32]:
    """Vectors by the tenant's model, on its account."""
    text, known = _known.get()
    if list(texts) == [text]:
        if known is None:
            raise EmbeddingUnavailable("The embedding model was away.")
        return known[np.newaxis]
    embedder = get_embedder(model_of(tenant_id))
    with metered(tenant_id):
        vectors = embedder.embed(texts, purpose=purpose, interactive=interactive).view(Embedding)
    vectors.model = embedder.model
    return vectors
