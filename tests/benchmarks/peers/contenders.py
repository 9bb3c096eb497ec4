"""Those who are compared: each keeps turns, and ranks them in one way or more."""

import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx
import numpy as np

from memoryproject.evaluation.figures import DEPTH
from tests.benchmarks.peers.corpus import Asked, Item

DRIVERS = Path(__file__).parent / "drivers"


class PeerFailed(Exception):
    """A peer did not answer. The text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Keys of turns, best first, and how long they took."""

    keys: tuple[str, ...]
    ms: float


Search = Callable[[Sequence[Asked]], list[Answer]]


class Contender(Protocol):
    """Somebody who remembers."""

    name: str
    version: str
    setup: str
    database: str  # where its rows are, or nothing

    def add(self, items: Sequence[Item]) -> list[float]:
        """Keeps the turns, one after the other; the milliseconds of each."""

    @property
    def rankings(self) -> Mapping[str, Search]:
        """Its ways to answer, by name. Each asks one question after the other for `DEPTH` turns."""

    def close(self) -> None:
        """Ends what was started for it."""


class Exact:
    """Every cosine, in this process: what similarity alone is worth, and the least that it costs."""

    name, database = "exact cosine", ""
    version = f"numpy {np.__version__}"
    setup = "all of a user's vectors, in the benchmark's own process; no store"

    def __init__(self, embed: Callable[[Sequence[str]], list[list[float]]]) -> None:
        self._embed = embed
        self._keys: dict[str, list[str]] = defaultdict(list)
        self._vectors: dict[str, list[Any]] = defaultdict(list)

    def add(self, items: Sequence[Item]) -> list[float]:
        return [_timed(lambda item=item: self._add(item))[1] for item in items]

    @property
    def rankings(self) -> Mapping[str, Search]:
        return {self.name: self._search}

    def close(self) -> None:
        """Nothing was started."""

    def _add(self, item: Item) -> None:
        self._vectors[item.user].append(self._embed([item.text])[0])
        self._keys[item.user].append(item.key)

    def _search(self, questions: Sequence[Asked]) -> list[Answer]:
        matrices = {one.user: np.array(self._vectors[one.user]) for one in questions}
        return [Answer(*_timed(lambda one=one: self._rank(one, matrices[one.user]))) for one in questions]

    def _rank(self, one: Asked, matrix: Any) -> tuple[str, ...]:
        order = np.argsort(-(matrix @ np.array(self._embed([one.text])[0])), kind="stable")
        return tuple(self._keys[one.user][at] for at in order[:DEPTH])


class Strata:
    """This project through its HTTP API, over one kept-alive connection."""

    name, database = "Strata", ""
    setup = (
        "a server as `make run` starts it; `POST /api/v1/episodes` for each turn (a `message` with its "
        "session and place), `POST /api/v1/recall`; default policy and weights; embeds in its own process"
    )

    def __init__(self, *, url: str, key: str, version: str) -> None:
        self.version = version
        self.refused = 0
        self._keys: dict[str, str] = {}
        self._http = httpx.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False
        )

    def add(self, items: Sequence[Item]) -> list[float]:
        return [self._add(item) for item in items]

    @property
    def rankings(self) -> Mapping[str, Search]:
        return {f"{self.name} {profile}": self._profile(profile) for profile in ("similarity", "hybrid")}

    def close(self) -> None:
        self._http.close()

    def _add(self, item: Item) -> float:
        body = {
            "text": item.text,
            "user_id": item.user,
            "session_id": item.session,
            "memory_type": "message",
            "covers_turns": [item.place, item.place],
            "event_date": item.at.isoformat(),
        }
        answer, ms = _timed(lambda: self._http.post("/episodes", json=body))
        if answer.status_code == 201:
            self._keys[answer.json()["id"]] = item.key
        elif answer.status_code in (202, 422):  # the policy's gate keeps it out, which costs what it costs
            self.refused += 1
        else:
            raise PeerFailed(f"POST /episodes answered {answer.status_code}: {answer.text[:300]}")
        return ms

    def _profile(self, profile: str) -> Search:
        return lambda questions: [self._search(one, profile) for one in questions]

    def _search(self, one: Asked, profile: str) -> Answer:
        body = {"query": one.text, "user_id": one.user, "top_k": DEPTH, "profile": profile}
        answer, ms = _timed(lambda: self._http.post("/recall", json=body))
        if not answer.is_success:
            raise PeerFailed(f"POST /recall answered {answer.status_code}: {answer.text[:300]}")
        return Answer(tuple(self._keys[hit["id"]] for hit in answer.json()["results"]), ms)


class Driven:
    """A peer in its own environment, by lines of JSON (`drivers/lines.py`)."""

    def __init__(
        self, name: str, *, python: Path, driver: str, database: str, embeddings: str, folder: Path
    ) -> None:
        self.name, self.database = name, database
        folder.mkdir(parents=True, exist_ok=True)
        self._log = (folder / "driver.log").open("wb")
        self._process = subprocess.Popen(
            [str(python), str(DRIVERS / driver)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, bufsize=1,
        )  # fmt: skip
        try:
            opened = self._call(op="open", database=database, embeddings=embeddings, folder=str(folder))
        except PeerFailed:
            self.close()
            raise
        self.version, self.setup = opened["version"], opened["setup"]

    def add(self, items: Sequence[Item]) -> list[float]:
        rows = [{"user": item.user, "key": item.key, "text": item.text} for item in items]
        times: list[float] = self._call(op="add", items=rows)["ms"]
        return times

    @property
    def rankings(self) -> Mapping[str, Search]:
        return {self.name: self._search}

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _search(self, questions: Sequence[Asked]) -> list[Answer]:
        queries = [{"user": one.user, "text": one.text} for one in questions]
        found = self._call(op="search", queries=queries, k=DEPTH)["answers"]
        return [Answer(tuple(one["keys"]), one["ms"]) for one in found]

    def _call(self, **asked: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerFailed(f"its process ended; {self._log.name} says why")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1000
