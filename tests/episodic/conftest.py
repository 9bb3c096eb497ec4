from collections.abc import Iterator
from pathlib import Path

import pytest

from providers import embeddings
from providers.local.embedder import LocalEmbedder


@pytest.fixture
def model_away(tmp_path: Path) -> Iterator[None]:
    """The model's files are not where they should be, until the test ends or resets the embedder itself."""
    broken = LocalEmbedder(cache_dir=tmp_path, threads=1, model_folder=tmp_path / "nowhere")
    embeddings.reset_embedder()
    embeddings._process.embedders[embeddings.PRESENT] = broken
    yield
    embeddings.reset_embedder()
