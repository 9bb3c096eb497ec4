"""Resident memory of the web processes with the model loaded, before and after load."""

from dataclasses import asdict, dataclass
from pathlib import Path

from tests.benchmarks import load
from tests.benchmarks.cases import get_requests, put_requests, search_requests, store_requests
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import start_default


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes of one process: resident, and its share of what it has in common with others."""

    process: str
    rss: float
    pss: float


def report(place: Stage, *, seconds: int) -> dict[str, list[dict[str, object]]]:
    """Prints and returns the memory of each process of `make run`'s web command."""
    place.episodes(100_000)
    web = start_default(place.environment, place.log)
    try:
        load.run(
            web.url, search_requests(by_user=True)(place), clients=8, seconds=1
        )  # every worker has the model
        before = _tree(web.pids())
        for requests in (put_requests, get_requests, store_requests, search_requests(by_user=False)):
            load.run(web.url, requests(place), clients=8, seconds=seconds)
        after = _tree(web.pids())
    finally:
        web.stop()
    for when, processes in (("model loaded", before), ("after load", after)):
        for one in processes:
            print(f"memory, {when}: {one.process} RSS {one.rss:.0f} MB, PSS {one.pss:.0f} MB", flush=True)
    return {"before": [asdict(one) for one in before], "after": [asdict(one) for one in after]}


def _tree(pids: list[int]) -> list[Memory]:
    first, *workers = pids
    return [
        _memory("supervisor" if workers else "process", first),
        *(_memory("worker", pid) for pid in workers),
    ]


def _memory(name: str, pid: int) -> Memory:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return Memory(name, kilobytes["Rss"] / 1024, kilobytes["Pss"] / 1024)
