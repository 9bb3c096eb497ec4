"""Reading documents that strangers made, without giving them this process."""

import json
import os
import subprocess
import sys
import threading

from django.conf import settings

from knowledge.reading.blocks import Limits, Unreadable
from knowledge.reading.chunking import Piece
from knowledge.reading.reader import MARKDOWN, TEXT, ReadDocument, read_document
from tenants.errors import Unavailable

HARMLESS = 65_536  # bytes of text or Markdown that are read here: a process of its own would take longer
AT_ONCE = 2  # documents that one process has read in others, each of which may take its memory and its time
WAITS = 2.0  # seconds for one of them to be done
GRACE = 2.0  # seconds to start, beside those to read
_slots = threading.BoundedSemaphore(AT_ONCE)


def read_safely(data: bytes, media_type: str, *, encoding: str = "") -> ReadDocument:
    """The document, read within the limits of the settings. Raises Unreadable with the reason; Unavailable
    when enough others are being read."""
    if media_type in (TEXT, MARKDOWN) and len(data) <= HARMLESS:
        return read_document(data, media_type, _limits())
    if not _slots.acquire(timeout=WAITS):
        raise Unavailable("Other documents are being read; try again.")
    try:
        return _read_apart(data, media_type, encoding)
    finally:
        _slots.release()


def _limits() -> Limits:
    return Limits(characters=settings.DOCUMENT_MAX_CHARS, pages=settings.DOCUMENT_MAX_PAGES)


def _read_apart(data: bytes, media_type: str, encoding: str) -> ReadDocument:
    limits, seconds = _limits(), settings.DOCUMENT_PARSE_SECONDS
    told = {
        "media_type": media_type,
        "encoding": encoding,
        "characters": limits.characters,
        "pages": limits.pages,
        "seconds": seconds,
        "mebibytes": settings.DOCUMENT_PARSE_MEMORY_MB,
    }
    child = subprocess.Popen(
        [sys.executable, "-s", "-m", "knowledge.reading.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=settings.BASE_DIR,
        env=_environment(),
    )
    with child:
        try:
            out, _ = child.communicate(json.dumps(told).encode() + b"\n" + data, timeout=seconds + GRACE)
        except subprocess.TimeoutExpired as error:
            raise Unreadable(f"The document takes longer than {seconds} seconds to be read.") from error
        finally:
            child.kill()
    return _answer(out, child.returncode, seconds)


def _environment() -> dict[str, str]:
    """No secret of ours, and no threads."""
    path = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    return {
        **path,
        **threads,
        "LC_ALL": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _answer(out: bytes, code: int, seconds: int) -> ReadDocument:
    if code < 0 or not out:  # its limits have killed it
        raise Unreadable(
            f"The document cannot be read in {seconds} seconds with the memory that it may take."
        )
    answer = json.loads(out)
    if "refused" in answer:
        raise Unreadable(answer["refused"])
    return ReadDocument(answer["title"], tuple(Piece(*piece) for piece in answer["pieces"]))
