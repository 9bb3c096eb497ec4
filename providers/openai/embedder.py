"""Embeddings of an OpenAI-compatible server."""

import base64
import binascii
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from providers.errors import EmbeddingRejected, EmbeddingUnavailable
from providers.metrics import timed_embedding
from providers.openai.batching import BYTES_PER_TOKEN, cut, plan_requests
from providers.openai.endpoint import PROVIDER, Endpoint, Rejected, Unreachable, Unusable

# Dimensions of the models that are known; any other model's have to be set.
NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds for one `embed`, its retries and all its requests together."""

    interactive: float  # while somebody waits
    background: float


class OpenAIEmbedder:
    """One model at one address; contract: `providers.embeddings.Embedder`."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimensions: int,
        patience: Patience,
        batch_size: int = 128,
        max_tokens: int = 8191,
    ) -> None:
        """`max_tokens`: of one text; what is longer is cut."""
        self._endpoint, self._patience = endpoint, patience
        self._batch_size, self._max_tokens = batch_size, max_tokens
        native = NATIVE_DIMENSIONS.get(endpoint.model)
        self.dimensions = dimensions
        # Shortened vectors compare with those of the same length alone: the name stored beside them says it.
        self.model = endpoint.model if dimensions == native else f"{endpoint.model}@{dimensions}"
        self._asks_for_dimensions = dimensions != native

    def embed(
        self, texts: Sequence[str], *, purpose: str = "embed", interactive: bool = False
    ) -> NDArray[np.float32]:
        """Return unit vectors (len(texts), dimensions), in order.

        A text of more than `max_tokens` tokens is cut at its end: at three bytes per token, and should the
        server find that too long, at one, which is never too long. A blank text has the first axis for its
        vector, without a request: servers refuse it.
        """
        patience = self._patience.interactive if interactive else self._patience.background
        deadline = time.monotonic() + patience
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        asked = [row for row, text in enumerate(texts) if text.strip()]
        vectors[[row for row, text in enumerate(texts) if not text.strip()], 0] = 1
        sent = [cut(texts[row], self._max_tokens * BYTES_PER_TOKEN) for row in asked]
        with timed_embedding(provider=PROVIDER, model=self.model):
            for run in plan_requests([len(text.encode()) for text in sent], self._batch_size):
                try:
                    vectors[asked[run]] = self._ask(asked[run], sent[run], purpose, deadline)
                except Unreachable as error:
                    raise EmbeddingUnavailable(str(error), error.retry_after) from None
        return vectors

    def answers(self) -> bool:
        """False while the server is being left alone, and until it has answered again."""
        return self._endpoint.is_well

    def _ask(self, rows: list[int], texts: list[str], purpose: str, deadline: float) -> NDArray[np.float32]:
        """Texts that are rejected are asked for in halves, until the one that is too long stands alone.
        `rows` are their positions for the caller."""
        try:
            return self._request(texts, purpose, deadline)
        except Rejected as error:
            if self._asks_for_dimensions and "dimension" in error.detail.lower():
                self._asks_for_dimensions = False  # a server that knows no such parameter
                return self._ask(rows, texts, purpose, deadline)
            if len(texts) > 1:
                half = len(texts) // 2
                halves = (slice(half), slice(half, None))
                return np.concatenate([self._ask(rows[of], texts[of], purpose, deadline) for of in halves])
            shorter = cut(texts[0], self._max_tokens)
            if shorter == texts[0]:
                raise EmbeddingRejected(str(error), rows[0]) from None
            return self._ask(rows, [shorter], purpose, deadline)

    def _request(self, texts: list[str], purpose: str, deadline: float) -> NDArray[np.float32]:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": texts, "encoding_format": "base64"}
        if self._asks_for_dimensions:
            body["dimensions"] = self.dimensions

        def read(answer: dict[str, Any]) -> NDArray[np.float32]:
            return read_vectors(answer, count=len(texts), dimensions=self.dimensions)

        return self._endpoint.ask("/embeddings", body, purpose=purpose, deadline=deadline, read=read)


def read_vectors(answer: dict[str, Any], *, count: int, dimensions: int) -> NDArray[np.float32]:
    """The answer's vectors at length 1, shape (count, dimensions), each in the row that its `index` names.

    Raises Unusable unless there is exactly one for each text, of the right size, finite, and not zero.
    """
    items = answer.get("data")
    if not isinstance(items, list) or len(items) != count:
        raise Unusable(f"The provider did not answer {count} vectors.")
    if not all(isinstance(item, dict) for item in items):
        raise Unusable("The provider's answer holds something that is no vector.")
    order = [item.get("index", position) for position, item in enumerate(items)]
    if set(map(str, order)) != set(map(str, range(count))):
        raise Unusable("The provider's answer does not say which vector is which text's.")
    vectors = np.empty((count, dimensions), np.float64)
    for row, item in zip(order, items, strict=True):
        vectors[int(row)] = _read_vector(item.get("embedding"), dimensions)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise Unusable("The provider answered a vector that has no direction.")
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit


def _read_vector(value: object, dimensions: int) -> NDArray[np.float64]:
    """Numbers, or float32 in base64, whichever the server writes."""
    try:
        if isinstance(value, str):
            vector = np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
        else:
            vector = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise Unusable("The provider's answer holds something that is no vector.") from None
    if vector.shape != (dimensions,):
        raise Unusable(f"The provider answered a vector that has not {dimensions} dimensions.")
    return vector
