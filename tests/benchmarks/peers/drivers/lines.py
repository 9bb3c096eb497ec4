"""The protocol: one JSON object per line in, one per line out. Standard library only.

    {"op": "open", "database": URL, "embeddings": URL, "folder": PATH} -> {"version", "setup"}
    {"op": "add", "items": [{"user", "key", "text"}]}                  -> {"ms": […]}
    {"op": "search", "queries": [{"user", "text"}], "k": 20}        -> {"answers": [{"keys": […], "ms": …}]}

Times are those of the peer's own calls. After an answer {"error": …} there are no more.
"""

import json
import os
import sys
import time
import traceback
from typing import Any, Protocol

DIMENSIONS = 384
MODEL = "all-MiniLM-L6-v2"
API_KEY = "none"  # the endpoint asks for none; its client insists on one


class Memory(Protocol):
    """A peer, opened."""

    version: str
    setup: str  # what it was configured with, for a person

    def add(self, user: str, key: str, text: str) -> None:
        """Stores one turn."""

    def search(self, user: str, text: str, k: int) -> list[str]:
        """The keys of the turns found, best first."""


class Opener(Protocol):
    """Makes the peer ready in a database that is empty."""

    def __call__(self, *, database: str, embeddings: str, folder: str) -> Memory: ...


def serve(open_memory: Opener) -> None:
    """Answers lines until there are no more. What the peer prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    opened: list[Memory] = []
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line), opened, open_memory)
        # a process boundary: who started this one says what went wrong here
        except Exception as error:  # noqa: BLE001
            traceback.print_exc()
            answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"[:500]}) + "\n")
            return
        answers.write(json.dumps(answer) + "\n")


def _answer(asked: dict[str, Any], opened: list[Memory], open_memory: Opener) -> dict[str, Any]:
    operation = asked.pop("op")
    if operation == "open":
        opened.append(open_memory(**asked))
        return {"version": opened[0].version, "setup": opened[0].setup}
    (memory,) = opened
    if operation == "add":
        return {"ms": [_timed(memory.add, **item)[1] for item in asked["items"]]}
    found = [_timed(memory.search, **query, k=asked["k"]) for query in asked["queries"]]
    return {"answers": [{"keys": keys, "ms": ms} for keys, ms in found]}


def _timed(call: Any, **given: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call(**given)
    return result, (time.perf_counter() - start) * 1000
