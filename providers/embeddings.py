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

from providers.errors import EmbeddingUnavailable
from providers.local.embedder import MODEL as LOCAL_MODEL
from providers.local.embedder import LocalEmbedder

__all__ = ["Embedder", "EmbeddingUnavailable", "get_embedder", "reset_embedder"]


class Embedder(Protocol):
    """Turns texts into vectors. Safe to call from several threads at once."""

    model: str  # stored beside every vector: only vectors of one model compare
    dimensions: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return shape (len(texts), dimensions): row i has length 1 and belongs to texts[i].

        Any text is accepted, also an empty one; what exceeds the model's window is not seen.
        Raises EmbeddingUnavailable when the model cannot be loaded or run.
        """


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
    if settings.EMBEDDING_PROVIDER != "local":
        raise ImproperlyConfigured(
            f"EMBEDDING_PROVIDER is {settings.EMBEDDING_PROVIDER!r}; the only provider is 'local'."
        )
    if settings.EMBEDDING_MODEL != LOCAL_MODEL:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL is {settings.EMBEDDING_MODEL!r}; provider 'local' has only {LOCAL_MODEL!r}."
        )
    return LocalEmbedder(cache_dir=settings.MODEL_CACHE, threads=settings.EMBEDDING_THREADS)


def _start_over_in_child() -> None:
    # Freeing the parent's session, at the latest when this process ends, would wait for ever for threads that
    # only the parent has. One reference too many keeps it from being freed at all.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_process.embedder))
    _process.embedder = None
    _process.lock = threading.Lock()


os.register_at_fork(after_in_child=_start_over_in_child)
