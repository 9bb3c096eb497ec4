"""HTTP servers and process models beside each other."""

import argparse
from dataclasses import dataclass

from tests.benchmarks import load
from tests.benchmarks.cases import CASES, Case
from tests.benchmarks.figures import Figures, best_of
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import Server, granian, gunicorn
from tests.processes import free_port

MEASURED = ("get", "search-user-100k", "append")
HEAD = "{:58} {:32} {:32} {:32}"
ROW = "{:56} " + " {:>7} {:>7} {:>7} {:>7}" * len(MEASURED)


@dataclass(frozen=True, slots=True)
class Setup:
    """A server with its options."""

    name: str
    options: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.name} {' '.join(self.options)}"


def _granian(workers: int, threads: int, *more: str) -> Setup:
    return Setup("granian", ("--workers", str(workers), "--blocking-threads", str(threads), *more))


def _gunicorn(workers: int, threads: int) -> Setup:
    return Setup("gunicorn", ("-k", "gthread", "--workers", str(workers), "--threads", str(threads)))


SETUPS = [
    *(_granian(workers, threads) for workers in (1, 2) for threads in (1, 2, 4, 8)),
    _granian(2, 4, "--http", "1", "--no-ws"),
    _granian(2, 4, "--runtime-threads", "2"),
    _granian(2, 4, "--runtime-mode", "st"),
    _granian(2, 4, "--backpressure", "4"),
    *(_gunicorn(workers, threads) for workers in (1, 2) for threads in (4, 8)),
]


def report(place: Stage, options: argparse.Namespace) -> dict[str, dict[str, Figures]]:
    """Prints and returns each setup's figures per case and number of clients."""
    place.episodes(100_000)
    print(HEAD.format("", *MEASURED))
    print(ROW.format("milliseconds", *["p50 @1", "p50 @8", "p99 @8", "req/s"] * len(MEASURED)), flush=True)
    figures = {}
    for setup in SETUPS:
        found = figures[setup.title] = _measure(place, setup, options)
        cells = [cell for name in MEASURED for cell in _cells(found[f"{name}/1"], found[f"{name}/8"])]
        print(ROW.format(setup.title, *cells), flush=True)
    return figures


def _measure(place: Stage, setup: Setup, options: argparse.Namespace) -> dict[str, Figures]:
    port = free_port()
    command = {"granian": granian, "gunicorn": gunicorn}[setup.name](port, *setup.options)
    web = Server(place.environment, log=place.log, command=command, port=port).wait_until_ready()
    try:
        return {
            f"{case.name}/{clients}": _best(place, case, web.url, clients, options)
            for case in CASES
            if case.name in MEASURED
            for clients in (1, 8)
        }
    finally:
        web.stop()


def _best(place: Stage, case: Case, url: str, clients: int, options: argparse.Namespace) -> Figures:
    if clients == 1:
        for request in case.prepare(place):
            load.send(url, request)
    requests = case.requests(place)
    load.run(url, requests, clients=8, seconds=1)  # every worker has met it, with the model loaded
    seconds, repeat = options.seconds, options.repeat
    return best_of([load.run(url, requests, clients=clients, seconds=seconds) for _ in range(repeat)])


def _cells(alone: Figures, together: Figures) -> list[str]:
    return [f"{alone.p50:.2f}", f"{together.p50:.2f}", f"{together.p99:.1f}", f"{together.rate:,.0f}"]
