"""The same search at its 1st and its 1,000th execution: a plan that changes on the way would show here."""

import http.client
import json
import time
from dataclasses import asdict, dataclass

from tests.benchmarks.cases import search_requests
from tests.benchmarks.load import Request
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import start_default

SHOWN = (1, 2, 10, 100, 1_000)
AROUND = 9  # executions before and after whose median steadies a figure; the first has none


@dataclass(frozen=True, slots=True)
class Execution:
    """Milliseconds of the n-th execution and how many results it had."""

    number: int
    ms: float
    results: int


def report(place: Stage) -> dict[str, list[dict[str, float]]]:
    """Prints and returns the figures over 1,000 and over 100,000 episodes."""
    figures = {}
    for size in (1_000, 100_000):
        place.episodes(size)
        for by_user in (True, False):
            whose = "one user's" if by_user else "one agent's"
            found = _executions(place, search_requests(by_user=by_user)(place)[0])
            shown = ", ".join(f"{one.number:,}.: {one.ms:.2f} ms" for one in found)
            same = "" if len({one.results for one in found}) == 1 else "  NOT ALWAYS AS MANY RESULTS"
            print(f"n-th search, {whose}, of {size:,} episodes: {shown}{same}", flush=True)
            figures[f"{size}/{whose}"] = [asdict(one) for one in found]
    return figures


def _executions(place: Stage, request: Request) -> list[Execution]:
    """In new web processes whose model is loaded, over one connection."""
    web = start_default(place.environment, place.log)
    try:
        connection = http.client.HTTPConnection(web.url.partition("//")[2], timeout=60)
        times, counts = zip(*(_one(connection, request) for _ in range(max(SHOWN) + AROUND)), strict=True)
    finally:
        web.stop()
    return [Execution(number, _steady(times, number), min(counts[: number + AROUND])) for number in SHOWN]


def _one(connection: http.client.HTTPConnection, request: Request) -> tuple[float, int]:
    start = time.perf_counter()
    connection.request(request.method, request.path, request.text, request.headers)
    answer = connection.getresponse()
    body = answer.read()
    elapsed = (time.perf_counter() - start) * 1000
    if answer.status != 200:
        raise SystemExit(f"{request.path} answered {answer.status}")
    return elapsed, json.loads(body)["total"]


def _steady(times: tuple[float, ...], number: int) -> float:
    if number <= AROUND:
        return times[number - 1]
    near = sorted(times[number - 1 - AROUND : number + AROUND])
    return near[len(near) // 2]
