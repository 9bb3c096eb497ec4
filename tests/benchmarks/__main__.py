"""`python -m tests.benchmarks [NAME …]`: figures on stdout. See docs/performance.md."""

import argparse
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks import (
    execution,
    footprint,
    identity,
    ingest,
    jobs,
    load,
    observations,
    pages,
    retention,
    scale,
    servers,
    size,
    table,
)
from tests.benchmarks.cases import CASES, Case
from tests.benchmarks.figures import Figures, best_of
from tests.benchmarks.floors import measure
from tests.benchmarks.stage import Stage, stage
from tests.benchmarks.web import start_default

CLIENTS = (1, 8)
ASKED_FOR = {"crowd", "jobs", "pages", "recall-1m", "retention", "scale", "servers"}  # these take minutes
WITHOUT_WRK = {"crowd", "identity", "ingest", "jobs", "pages", "retention", "scale", "size"}
OTHERS = (
    "crowd",
    "executions",
    "identity",
    "ingest",
    "jobs",
    "memory",
    "observations",
    "pages",
    "retention",
    "scale",
    "servers",
    "size",
)


def main() -> None:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join([*names, *OTHERS])}; default: cases"
    )
    parser.add_argument("--quick", action="store_true", help="one second each, once: to see that it works")
    parser.add_argument("--seconds", type=int, default=8, help="length of a run (default: %(default)s)")
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs, of which the best counts (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="keep the stores here, for a quicker next start"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(names) - set(OTHERS):
        parser.error(f"there is no benchmark named {', '.join(sorted(unknown))}")
    if options.quick:
        options.seconds, options.repeat = 1, 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))  # so that the stores are stopped, too
    figures = run(options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1, default=asdict) + "\n")


def run(options: argparse.Namespace) -> dict[str, object]:
    """Every figure that was asked for, by name."""
    wanted = options.names or [case.name for case in CASES if case.name not in ASKED_FOR]
    chosen = [case for case in CASES if case.name in wanted]
    figures: dict[str, object] = {}
    if "size" in options.names:
        figures["size"] = size.report()
    if options.names == ["size"]:
        return figures
    if not options.names or set(options.names) - WITHOUT_WRK:
        load.need_wrk()
    with stage(options.home) as place:
        if chosen:
            figures["cases"] = run_cases(place, chosen, options)
        for name, report in _reports(place, options).items():
            if name in options.names or (not options.names and name not in ASKED_FOR):
                figures[name] = report()
    return figures


def _reports(place: Stage, options: argparse.Namespace) -> dict[str, Callable[[], object]]:
    """The benchmarks that are no cases, in the order in which they run."""
    return {
        "identity": lambda: identity.report(place, seconds=options.seconds, repeat=options.repeat),
        "observations": lambda: observations.report(place, options),
        "crowd": lambda: observations.crowd(place),
        "ingest": lambda: ingest.report(place, options),
        "jobs": lambda: jobs.report(place, options),
        "pages": lambda: pages.report(place, options),
        "retention": lambda: retention.report(place, options),
        "scale": lambda: scale.report(place, options),
        "executions": lambda: execution.report(place),
        "memory": lambda: footprint.report(place, seconds=options.seconds),
        "servers": lambda: servers.report(place, options),
    }


def run_cases(place: Stage, cases: list[Case], options: argparse.Namespace) -> dict[str, object]:
    """Per case and number of clients the served figures and the floor's."""
    figures: dict[str, object] = {}
    table.head()
    for case in cases:
        if case.episodes:
            place.episodes(case.episodes)
        web = start_default(place.environment, place.log)
        try:
            for request in case.prepare(place):
                load.send(web.url, request)
            load.send(web.url, case.requests(place)[0])
            for clients in CLIENTS:
                served, floor = run_case(place, case, web.url, clients, options)
                table.row(case.title, clients, served, floor)
                figures[f"{case.name}/{clients}"] = {"served": served, "floor": floor}
        finally:
            web.stop()
    return figures


def run_case(
    place: Stage, case: Case, url: str, clients: int, options: argparse.Namespace
) -> tuple[Figures, Figures]:
    """Server and floor in turn, so that both meet the same noise."""
    requests, call = case.requests(place), case.floor(place)
    load.run(url, requests, clients=clients, seconds=1)  # warms caches and connections
    measure(call, clients=clients, seconds=0.5)
    served, floors = [], []
    for _ in range(options.repeat):
        served.append(load.run(url, requests, clients=clients, seconds=options.seconds))
        floors.append(measure(call, clients=clients, seconds=options.seconds / 2))
    return best_of(served), best_of(floors)


if __name__ == "__main__":
    main()
