"""HTTP servers and process models beside each other."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks import load
from tests.benchmarks.cases import CASES
from tests.benchmarks.figures import Figures
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import Server, granian, gunicorn
from tests.processes import free_port

MEASURED = ("get", "search-user-100k", "append")
HEAD = "{:58} {:40} {:40} {:40}"
ROW = "{:56} " + " {:>7} {:>7} {:>7} {:>7} {:>7}" * len(MEASURED)


@dataclass(frozen=True, slots=True)
class Served:
    """Figures, and the milliseconds of processor time that the server spent per request."""

    figures: Figures
    cpu: float


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


# Not --backpressure: it counts idle keep-alive connections, so that four silent clients keep out the fifth.
SETUPS = [
    *(_granian(workers, threads) for workers in (1, 2) for threads in (1, 2, 4, 8)),
    *(_granian(workers, 4, "--http", "1", "--no-ws") for workers in (1, 2)),
    _granian(2, 4, "--runtime-mode", "st"),
    *(_gunicorn(workers, threads) for workers, threads in ((1, 4), (2, 4), (2, 8))),
]


def report(place: Stage, options: argparse.Namespace) -> dict[str, dict[str, Served]]:
    """Prints and returns each setup's figures per case and number of clients."""
    place.episodes(100_000)
    print(HEAD.format("", *MEASURED))
    print(
        ROW.format("milliseconds", *["p50 @1", "p50 @8", "p99 @8", "req/s", "cpu @8"] * len(MEASURED)),
        flush=True,
    )
    figures = {}
    for setup in SETUPS:
        found = figures[setup.title] = _measure(place, setup, options)
        cells = [cell for name in MEASURED for cell in _cells(found[f"{name}/1"], found[f"{name}/8"])]
        print(ROW.format(setup.title, *cells), flush=True)
    return figures


def _measure(place: Stage, setup: Setup, options: argparse.Namespace) -> dict[str, Served]:
    port = free_port()
    command = {"granian": granian, "gunicorn": gunicorn}[setup.name](port, *setup.options)
    web = Server(place.environment, log=place.log, command=command, port=port).wait_until_ready()
    try:
        for case in CASES:
            for request in case.prepare(place) if case.name in MEASURED else ():
                load.send(web.url, request)
        return {
            f"{case.name}/{clients}": _best(web, case.requests(place), clients, options)
            for case in CASES
            if case.name in MEASURED
            for clients in (1, 8)
        }
    finally:
        web.stop()


def _best(web: Server, requests: Sequence[load.Request], clients: int, options: argparse.Namespace) -> Served:
    load.run(web.url, requests, clients=8, seconds=1)  # every worker has met it, with the model loaded
    runs = []
    for _ in range(options.repeat):
        before = web.cpu_seconds()
        figures = load.run(web.url, requests, clients=clients, seconds=options.seconds)
        spent = web.cpu_seconds() - before
        runs.append(Served(figures, spent * 1000 / (figures.rate * options.seconds)))
    return min(runs, key=lambda run: run.figures.p50)


def _cells(alone: Served, together: Served) -> list[str]:
    one, many = alone.figures, together.figures
    return [
        f"{one.p50:.2f}",
        f"{many.p50:.2f}",
        f"{many.p99:.1f}",
        f"{many.rate:,.0f}",
        f"{together.cpu:.2f}",
    ]
