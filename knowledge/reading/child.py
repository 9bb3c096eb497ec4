"""A process that reads one document and ends: `python -m knowledge.reading.child`.

A PDF of a few kilobytes can ask for gigabytes or hours. Here that hits limits that this process sets itself
before it reads, and whoever started it stays as it is. In: a line of JSON, then the file. Out: JSON.
"""

import json
import math
import resource
import sys
import time

from knowledge.reading.blocks import Limits, Unreadable
from knowledge.reading.reader import ReadDocument, read_document

MEBIBYTE = 1 << 20


def main() -> None:
    """Answers `{"title", "pieces"}`, or `{"refused"}` with the reason."""
    told = json.loads(sys.stdin.buffer.readline())
    _confine(seconds=told["seconds"], mebibytes=told["mebibytes"])
    limits = Limits(characters=told["characters"], pages=told["pages"])
    try:
        data, media_type = sys.stdin.buffer.read(), told["media_type"]
        answer = _shown(read_document(data, media_type, limits, encoding=told["encoding"]))
    except Unreadable as error:
        answer = json.dumps({"refused": str(error)})
    except (MemoryError, RecursionError):
        answer = json.dumps({"refused": "The document needs more memory to be read than it may take."})
    except Exception as error:  # noqa: BLE001  parsers raise anything; this process ends anyway
        answer = json.dumps({"refused": f"The document cannot be read: {type(error).__name__}."})
    sys.stdout.buffer.write(answer.encode())


def _confine(*, seconds: int, mebibytes: int) -> None:
    used = math.ceil(time.process_time())  # by starting: it counts towards the limit
    for what, most in (
        (resource.RLIMIT_CPU, used + seconds),
        (resource.RLIMIT_AS, mebibytes * MEBIBYTE),
        (resource.RLIMIT_FSIZE, 0),  # it writes no file
        (resource.RLIMIT_CORE, 0),
    ):
        _soft, hard = resource.getrlimit(what)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (allowed, allowed))


def _shown(read: ReadDocument) -> str:
    pieces = [(one.text, one.heading, one.page) for one in read.pieces]
    return json.dumps({"title": read.title, "pieces": pieces}, ensure_ascii=False)


if __name__ == "__main__":
    main()
