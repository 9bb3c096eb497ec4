"""Finds a transcript and chooses its reader."""

from pathlib import Path

from memoryproject.replay import jsonl, locomo
from memoryproject.replay.errors import MalformedTranscript, ReplayError
from memoryproject.replay.transcripts import Transcript

BUNDLED = Path(__file__).with_name("support_case.jsonl")


def load(path: Path) -> Transcript:
    """Return the transcript in `path`: JSON Lines when it ends in .jsonl, LoCoMo's JSON otherwise.

    Raises ReplayError when it cannot be read or understood.
    """
    try:
        raw = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReplayError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise MalformedTranscript(f"{path}, line {line}: this is not UTF-8 text.") from error
    parse = jsonl.parse if path.suffix == ".jsonl" else locomo.parse
    return parse(raw, path)
