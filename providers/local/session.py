"""The ONNX Runtime session, tuned for a small machine that also serves the web, PostgreSQL and Redis."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# From 1.29 on, ONNX Runtime reports its use to its makers, and keeps a device id and unsent reports under the
# home folder, unless this stands when it is imported. What a memory server does is nobody else's business.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

WARNINGS_OFF = 3  # errors only; warnings would go to stderr past Python's logging


class Session:
    """The loaded network. `run` may be called from several threads at once."""

    def __init__(self, *, graph: bytes, model_folder: Path, threads: int) -> None:
        """Load the graph, with weights mapped from `model_folder`; raises what ONNX Runtime raises."""
        self._session = onnxruntime.InferenceSession(
            graph, _options(model_folder, threads), providers=["CPUExecutionProvider"]
        )

    def run(self, token_ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return unit vectors (batch, 384) for ids and mask (batch, tokens)."""
        (vectors,) = self._session.run(["vectors"], {"token_ids": token_ids, "mask": mask})
        result: NDArray[np.float32] = vectors
        return result


def _options(model_folder: Path, threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = WARNINGS_OFF
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Idle threads that spin would answer 0.3 ms sooner, on the core that PostgreSQL and Redis need meanwhile.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # With the arena, batches run a third faster and eight callers peak at 215 MB instead of 450; it stays
    # small because batches are small. Plans per shape would pile up: every length of text is a shape.
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(model_folder)
    )
    return options
