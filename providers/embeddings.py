"""The one way to vectors: `get_embedder().embed(texts)`, whichever provider the settings choose."""

import ctypes
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

from providers.errors import EmbeddingRejected, EmbeddingUnavailable
from providers.local.embedder import MODEL as LOCAL_MODEL
from providers.local.embedder import LocalEmbedder

LONGEST_MODEL_NAME = 100  # as the tables keep it

__all__ = ["Embedder", "EmbeddingRejected", "EmbeddingUnavailable", "get_embedder", "reset_embedder"]


class Embedder(Protocol):
    """Turns texts into vectors. Safe to call from several threads at once."""

    model: str  # stored beside every vector: only vectors of one model compare
    dimensions: int

    def embed(
        self, texts: Sequence[str], *, purpose: str = "embed", interactive: bool = False
    ) -> NDArray[np.float32]:
        """Return shape (len(texts), dimensions): row i has length 1 and belongs to texts[i].

        Any text is accepted, also an empty one; what exceeds the model's window is not seen. An outside
        provider's usage is counted under `purpose`, and it is given up sooner when `interactive`: somebody
        waits. Never inside a scope. Raises EmbeddingUnavailable when there are no vectors to be had,
        EmbeddingRejected when one of the texts is the reason.
        """

    def answers(self) -> bool:
        """Whether vectors can be had, for health checks. An outside provider is not asked for it: the last
        calls tell."""


@dataclass
class _Process:
    """This process's embedder. A forked child gets its own: ONNX Runtime's threads do not survive a fork."""

    embedder: Embedder | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_process = _Process()


def get_embedder() -> Embedder:
    """Return the process's embedder; its model is loaded by the first `embed`, not here.

    Raises ImproperlyConfigured when the settings name a provider or model that does not exist.
    """
    if _process.embedder is None:
        with _process.lock:
            if _process.embedder is None:
                _process.embedder = _build_embedder()
    return _process.embedder


def reset_embedder() -> None:
    """Forget the embedder, so that the next call reads the settings again (tests)."""
    with _process.lock:
        _process.embedder = None


def _build_embedder() -> Embedder:
    if settings.EMBEDDING_PROVIDER == "openai":
        return _build_openai()
    if settings.EMBEDDING_PROVIDER != "local":
        raise ImproperlyConfigured(
            f"EMBEDDING_PROVIDER is {settings.EMBEDDING_PROVIDER!r}; the providers are 'local' and 'openai'."
        )
    if settings.EMBEDDING_MODEL != LOCAL_MODEL:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL is {settings.EMBEDDING_MODEL!r}; provider 'local' has only {LOCAL_MODEL!r}."
        )
    return LocalEmbedder(cache_dir=settings.MODEL_CACHE, threads=settings.EMBEDDING_THREADS)


def _build_openai() -> Embedder:
    # The client's import takes a quarter of a second, which nobody pays who embeds locally.
    from providers.openai.embedder import NATIVE_DIMENSIONS, OpenAIEmbedder, Patience
    from providers.openai.endpoint import Endpoint

    model = settings.EMBEDDING_MODEL
    dimensions = settings.EMBEDDING_DIMENSIONS or NATIVE_DIMENSIONS.get(model, 0)
    if not dimensions:
        raise ImproperlyConfigured(
            f"EMBEDDING_DIMENSIONS must be set for EMBEDDING_MODEL {model!r}; only those of "
            f"{', '.join(sorted(NATIVE_DIMENSIONS))} are known."
        )
    endpoint = Endpoint(
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY,
        model=model,
        connect_seconds=settings.PROVIDER_CONNECT_SECONDS,
        retries=settings.PROVIDER_RETRIES,
    )
    embedder = OpenAIEmbedder(
        endpoint,
        dimensions=dimensions,
        patience=Patience(settings.PROVIDER_INTERACTIVE_SECONDS, settings.PROVIDER_TIMEOUT_SECONDS),
        batch_size=settings.EMBEDDING_BATCH_SIZE,
        max_tokens=settings.EMBEDDING_MAX_TOKENS,
    )
    if len(embedder.model) > LONGEST_MODEL_NAME:
        raise ImproperlyConfigured(f"EMBEDDING_MODEL is longer than {LONGEST_MODEL_NAME} characters.")
    return embedder


def _start_over_in_child() -> None:
    # Freeing the parent's session, at the latest when this process ends, would wait for ever for threads that
    # only the parent has. One reference too many keeps it from being freed at all.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_process.embedder))
    _process.embedder = None
    _process.lock = threading.Lock()


os.register_at_fork(after_in_child=_start_over_in_child)
