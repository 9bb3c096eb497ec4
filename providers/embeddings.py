"""The one way to vectors: `get_embedder().embed(texts)`, whichever provider the settings choose. While one
model takes the place of another, the settings name both, and `get_embedder(model)` is either."""

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

__all__ = [
    "Embedder",
    "EmbeddingRejected",
    "EmbeddingUnavailable",
    "embedders",
    "get_embedder",
    "next_embedder",
    "reset_embedder",
]


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
    """This process's embedders, by the prefix of their settings. A forked child gets its own: ONNX Runtime's
    threads do not survive a fork."""

    embedders: dict[str, Embedder] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_process = _Process()
PRESENT, NEXT = "EMBEDDING", "EMBEDDING_NEXT"  # prefixes of settings


def get_embedder(model: str = "") -> Embedder:
    """Return the process's embedder of that model, by default the one of `EMBEDDING_MODEL`; its model is
    loaded by the first `embed`, not here.

    Raises EmbeddingUnavailable for a model that this process is not set up for, ImproperlyConfigured when the
    settings name a provider or model that does not exist.
    """
    present = _embedder(PRESENT)
    if model in ("", present.model):
        return present
    other = next_embedder()
    if other is None or other.model != model:
        raise EmbeddingUnavailable(f"No provider is set up for the embedding model {model!r}.")
    return other


def next_embedder() -> Embedder | None:
    """The one of `EMBEDDING_NEXT_MODEL`, if the settings name one. Raises ImproperlyConfigured as above, and
    when its vectors would be taken for those of the present one."""
    if not settings.EMBEDDING_NEXT_PROVIDER:
        return None
    other = _embedder(NEXT)
    if other.model == _embedder(PRESENT).model:
        raise ImproperlyConfigured(f"EMBEDDING_NEXT_MODEL and EMBEDDING_MODEL are both {other.model!r}.")
    return other


def embedders() -> tuple[Embedder, ...]:
    """All that this process is set up for, the one of `EMBEDDING_MODEL` first."""
    other = next_embedder()
    return (get_embedder(),) if other is None else (get_embedder(), other)


def reset_embedder() -> None:
    """Forget the embedders, so that the next call reads the settings again (tests)."""
    with _process.lock:
        _process.embedders.clear()


def _embedder(prefix: str) -> Embedder:
    found = _process.embedders.get(prefix)
    if found is None:
        with _process.lock:
            found = _process.embedders.get(prefix)
            if found is None:
                found = _process.embedders[prefix] = _build_embedder(prefix)
    return found


def _build_embedder(prefix: str) -> Embedder:
    provider, model = getattr(settings, f"{prefix}_PROVIDER"), getattr(settings, f"{prefix}_MODEL")
    if provider == "openai":
        return _build_openai(prefix, model)
    if provider != "local":
        raise ImproperlyConfigured(
            f"{prefix}_PROVIDER is {provider!r}; the providers are 'local' and 'openai'."
        )
    if model != LOCAL_MODEL:
        raise ImproperlyConfigured(f"{prefix}_MODEL is {model!r}; provider 'local' has only {LOCAL_MODEL!r}.")
    return LocalEmbedder(cache_dir=settings.MODEL_CACHE, threads=settings.EMBEDDING_THREADS)


def _build_openai(prefix: str, model: str) -> Embedder:
    # The client's import takes a quarter of a second, which nobody pays who embeds locally.
    from providers.openai.embedder import NATIVE_DIMENSIONS, OpenAIEmbedder, Patience
    from providers.openai.endpoint import Endpoint

    if not model:
        raise ImproperlyConfigured(f"{prefix}_MODEL must be set with {prefix}_PROVIDER 'openai'.")
    dimensions = getattr(settings, f"{prefix}_DIMENSIONS") or NATIVE_DIMENSIONS.get(model, 0)
    if not dimensions:
        raise ImproperlyConfigured(
            f"{prefix}_DIMENSIONS must be set for {prefix}_MODEL {model!r}; only those of "
            f"{', '.join(sorted(NATIVE_DIMENSIONS))} are known."
        )
    endpoint = Endpoint(
        base_url=settings.EMBEDDING_NEXT_BASE_URL if prefix == NEXT else settings.OPENAI_BASE_URL,
        api_key=settings.EMBEDDING_NEXT_API_KEY if prefix == NEXT else settings.OPENAI_API_KEY,
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
        raise ImproperlyConfigured(f"{prefix}_MODEL is longer than {LONGEST_MODEL_NAME} characters.")
    return embedder


def _start_over_in_child() -> None:
    # Freeing the parent's session, at the latest when this process ends, would wait for ever for threads that
    # only the parent has. One reference too many keeps it from being freed at all.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_process.embedders))
    _process.embedders = {}
    _process.lock = threading.Lock()


os.register_at_fork(after_in_child=_start_over_in_child)
