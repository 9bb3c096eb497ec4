"""LangGraph's two ways to keep items side by side: `python -m tests.benchmarks.peers.stores`.

PostgresStore and StrataStore get the same items, some of them one at a time, and the same searches and reads,
in turn, in one process. The model is the same: in this process for PostgresStore and for a StrataStore with
`embed`, in the server for a StrataStore without. PostgresStore speaks to PostgreSQL by itself, over a socket.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
from langgraph.store.base import BaseStore, PutOp

from tests.benchmarks.peers import environments
from tests.benchmarks.peers.measure import analyse
from tests.benchmarks.peers.surroundings import load, surroundings
from tests.benchmarks.seed import real_texts
from tests.benchmarks.stage import Stage, stage
from tests.benchmarks.web import start_default
from tests.processes import ROOT

NAMESPACE = ("bench", "notes")
IN_TURN = 20  # calls of one store before it is the next one's turn, so that all meet the same noise
IN_BATCH = 100
WARM = 20  # of each kind, not counted
ROW = "{:34} {:>9} {:>9} {:>9}"


@dataclass
class Contender:
    """A store, and the milliseconds of its calls by kind."""

    name: str
    store: BaseStore
    ms: dict[str, list[float]]

    def time(self, kind: str, call: Callable[[BaseStore], object]) -> None:
        start = time.perf_counter()
        call(self.store)
        self.ms.setdefault(kind, []).append((time.perf_counter() - start) * 1000)


def main() -> None:
    options = _options()
    site = environments.python_of("langgraph", options.cache).parent.parent.glob("lib/python3*/site-packages")
    sys.path += [str(ROOT / "sdk" / "src"), str(next(site))]  # of the latter, PostgresStore alone
    before = load()
    with stage(None) as place, _contenders(place) as contenders:
        figures = measure(place, contenders, items=options.items, timed=options.timed, asked=options.asked)
    document = {"figures": figures, "load": [before, load()], "items": options.items, **surroundings()}
    print(json.dumps(document, indent=1))


def measure(
    place: Stage, contenders: Sequence[Contender], *, items: int, timed: int, asked: int
) -> dict[str, dict[str, float]]:
    """The medians of each store's calls, in milliseconds. The first `timed` items are put one at a time, and
    timed; the others in batches."""
    said = real_texts()
    texts = [f"{said[number % len(said)]} ({number})" for number in range(items + asked)]
    puts = [(str(number), {"text": text}) for number, text in enumerate(texts[:items])]
    _in_turn(contenders, "put", puts[:timed], lambda store, one: store.put(NAMESPACE, *one))
    _fill(contenders, puts[timed:])
    analyse([place.superuser_url, _database(place.superuser_url)])
    _in_turn(
        contenders,
        "search",
        texts[items:],
        lambda store, text: store.search(NAMESPACE, query=text, limit=10),
    )
    keys = [str(random.Random(number).randrange(items)) for number in range(asked)]
    _in_turn(contenders, "get", keys, lambda store, key: store.get(NAMESPACE, key))
    print(ROW.format("ms, median of one call at a time", "put", "search", "get"))
    figures = {}
    for one in contenders:
        medians = {kind: float(np.median(times[WARM:])) for kind, times in one.ms.items()}
        print(ROW.format(one.name, *(f"{medians[kind]:.2f}" for kind in ("put", "search", "get"))))
        figures[one.name] = medians
    return figures


def _fill(contenders: Sequence[Contender], puts: Sequence[tuple[str, dict[str, str]]]) -> None:
    for start in range(0, len(puts), IN_BATCH):
        batch = [PutOp(NAMESPACE, key, value) for key, value in puts[start : start + IN_BATCH]]
        for one in contenders:
            one.store.batch(batch)


def _in_turn(
    contenders: Sequence[Contender], kind: str, given: Sequence[Any], call: Callable[[BaseStore, Any], object]
) -> None:
    for start in range(0, len(given), IN_TURN):
        for one in contenders:
            for each in given[start : start + IN_TURN]:
                one.time(kind, lambda store, each=each: call(store, each))


@contextmanager
def _contenders(place: Stage) -> Iterator[list[Contender]]:
    """All three with nothing in them, and the server that two of them ask."""
    from langgraph.store.postgres import PostgresStore
    from strata_memory.langgraph import StrataStore

    index: Any = {"dims": 384, "embed": _embed, "fields": ["text"]}
    _create(place.superuser_url)
    web = start_default(place.environment, place.log)
    with ExitStack() as stack:
        stack.callback(web.stop)
        theirs = PostgresStore.from_conn_string(_database(place.superuser_url), index=index)
        postgres = stack.enter_context(theirs)
        postgres.setup()
        serving, sending = (
            stack.enter_context(StrataStore.from_conn_string(web.url, api_key=member.key, index=one))
            for member, one in zip(place.members, ({"fields": ["text"]}, index), strict=False)
        )
        yield [
            Contender("PostgresStore", postgres, {}),
            Contender("StrataStore, the server embeds", serving, {}),
            Contender("StrataStore, the client embeds", sending, {}),
        ]


def _embed(texts: Sequence[str]) -> list[list[float]]:
    from providers.embeddings import get_embedder

    vectors: list[list[float]] = get_embedder().embed(list(texts)).tolist()
    return vectors


def _database(url: str) -> str:
    return urlsplit(url)._replace(path="/langgraph").geturl()


def _create(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE langgraph")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers.stores", description=__doc__)
    parser.add_argument("--items", type=int, default=200, help="in each store (default: %(default)s)")
    parser.add_argument("--timed", type=int, default=60, help="puts one at a time (default: %(default)s)")
    parser.add_argument("--asked", type=int, default=80, help="searches and reads (default: %(default)s)")
    parser.add_argument(
        "--cache", type=Path, default=environments.default_cache(), metavar="FOLDER",
        help="for the peer's virtual environment (default: %(default)s)",
    )  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    main()
