import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from providers.fake import FakeProvider
from providers.local.embedder import LocalEmbedder
from providers.local.weights import TOKENIZER, WEIGHTS, find_model_folder

HERE = Path(__file__).parent


class Reference(NamedTuple):
    """What sentence-transformers answers; reference.json says which version."""

    texts: list[str]
    vectors: NDArray[np.float32]


@pytest.fixture(scope="session")
def reference() -> Reference:
    texts = json.loads((HERE / "reference.json").read_text())["texts"]
    with np.load(HERE / "reference.npz") as arrays:
        return Reference(texts, arrays["vectors"])


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return LocalEmbedder(tmp_path_factory.mktemp("model-cache"), threads=2)


@pytest.fixture
def copied_model(tmp_path: Path) -> Iterator[Path]:
    """A folder with its own copy of the model's files, to be damaged."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in (WEIGHTS, TOKENIZER):
        shutil.copyfile(find_model_folder() / name, folder / name)
    yield folder
    shutil.rmtree(folder)  # 90 MB, which pytest would keep for three runs


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    """A fake outside provider that behaves well until it is told otherwise."""
    with FakeProvider() as provider:
        yield provider
