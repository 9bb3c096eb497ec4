"""Keeps the built graph (26 KB, no weights) on disk, so that serving processes never import `onnx`."""

import contextlib
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from providers.errors import EmbeddingUnavailable
from providers.local.weights import SHA256, WEIGHTS

logger = logging.getLogger(__name__)

BUILD_SECONDS = 120
DIGEST_BYTES = hashlib.sha256().digest_size
_SOURCE = Path(__file__).with_name("graph.py")


def load_graph(*, cache_dir: Path, model_folder: Path) -> bytes:
    """Return the serialised ONNX graph, from the cache if it is there and whole, else built anew.

    Several processes may build at once: each renames a complete file into place, and all are the same.
    """
    path = graph_path(cache_dir)
    graph = _read(path)
    if graph is None:
        graph = _build(model_folder / WEIGHTS)
        _write(path, graph)
    return graph


def graph_path(cache_dir: Path) -> Path:
    """Name the file by weights and builder, so that a change of either is never served from an old file."""
    builder = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    return cache_dir / f"all-MiniLM-L6-v2-{SHA256[WEIGHTS][:12]}-{builder[:12]}.graph"


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("The cached graph %s cannot be read (%s); building it anew.", path, error)
        return None
    digest, graph = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(graph).digest() != digest:
        logger.warning("The cached graph %s is damaged; building it anew.", path)
        return None
    return graph


def _build(weights: Path) -> bytes:
    """Build in a child process: the 60 MB that importing `onnx` takes go back to the machine."""
    command = [sys.executable, "-m", "providers.local.graph", str(weights)]
    try:
        child = subprocess.run(
            command, cwd=_SOURCE.parents[2], capture_output=True, timeout=BUILD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddingUnavailable(f"The model's graph could not be built: {error}") from error
    if child.returncode != 0:
        reason = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise EmbeddingUnavailable(f"The model's graph could not be built: {reason}")
    return child.stdout


def _write(path: Path, graph: bytes) -> None:
    """Store the graph whole or not at all. A cache that cannot be written costs time, not service."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(graph).digest() + graph)
            Path(temporary).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        logger.warning("The graph cannot be kept in %s (%s); it is built at every start.", path.parent, error)
