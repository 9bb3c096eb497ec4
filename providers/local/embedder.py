"""The local provider: loads the model when it is first needed, and tries again when that failed."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from providers.errors import EmbeddingUnavailable
from providers.local.batches import pad, plan_batches
from providers.local.cache import load_graph
from providers.local.weights import TOKENIZER, find_model_folder, verify_model_files
from providers.metrics import timed_embedding

if TYPE_CHECKING:
    from providers.local.session import Session
    from providers.local.tokens import TextEncoder

logger = logging.getLogger(__name__)

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
RETRY_SECONDS = 5.0  # between attempts to load; a failing one may take a second of processor time


@dataclass(frozen=True)
class _Loaded:
    encoder: "TextEncoder"
    session: "Session"


@dataclass(frozen=True)
class _Failure:
    reason: str
    at: float  # time.monotonic()


class LocalEmbedder:
    """all-MiniLM-L6-v2 in this process. Cheap to make; the first `embed` loads the model (about 0.2 s)."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self, cache_dir: Path, threads: int, model_folder: Path | None = None) -> None:
        """Use the installed wheel's files unless `model_folder` names another folder with the same files."""
        self._cache_dir = cache_dir
        self._threads = threads
        self._model_folder = model_folder
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._failure: _Failure | None = None

    @timed_embedding(provider="local", model=MODEL)
    def embed(
        self, texts: Sequence[str], *, purpose: str = "embed", interactive: bool = False
    ) -> NDArray[np.float32]:
        """Return unit vectors (len(texts), 384), in order; contract: `providers.embeddings.Embedder`."""
        del purpose, interactive  # it spends nothing, and takes milliseconds
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        if not len(texts):
            return vectors
        loaded = self._loaded or self._load()
        try:
            encoded = [loaded.encoder.encode(text) for text in texts]
            for rows in plan_batches([len(ids) for ids in encoded]):
                vectors[rows] = loaded.session.run(*pad([encoded[row] for row in rows]))
        except Exception as error:  # ONNX Runtime and tokenizers raise subclasses of nothing narrower
            raise EmbeddingUnavailable(f"The embedding model failed: {error}") from error
        return vectors

    def answers(self) -> bool:
        """Whether the model can be loaded and run."""
        try:
            self.embed(["ready"])
        except EmbeddingUnavailable:
            return False
        return True

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is not None:
                return self._loaded
            if self._failure and time.monotonic() < self._failure.at + RETRY_SECONDS:
                raise EmbeddingUnavailable(self._failure.reason)
            try:
                self._loaded = self._read_model()
            except EmbeddingUnavailable as error:
                self._failure = _Failure(str(error), time.monotonic())
                logger.error("Embeddings are unavailable: %s", error)
                raise
            self._failure = None
            return self._loaded

    def _read_model(self) -> _Loaded:
        folder = self._model_folder or find_model_folder()
        verify_model_files(folder)
        graph = load_graph(cache_dir=self._cache_dir, model_folder=folder)
        try:
            # Commands that embed nothing save the 30 MB of these imports, and no thread starts before a fork.
            from providers.local.session import Session
            from providers.local.tokens import TextEncoder

            encoder = TextEncoder(folder / TOKENIZER)
            session = Session(graph=graph, model_folder=folder, threads=self._threads)
            session.run(*pad([encoder.encode("warm up")]))
        except Exception as error:  # as in `embed`: nothing narrower covers the two libraries
            raise EmbeddingUnavailable(f"The embedding model cannot be loaded: {error}") from error
        return _Loaded(encoder, session)
