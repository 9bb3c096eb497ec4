"""The figures as lines that a person reads."""

from tests.benchmarks.figures import Figures

COLUMNS = "{:36} {:>7}  {:>7} {:>7} {:>7} {:>8}  {:>7} {:>7} {:>7} {:>8}  {:>5}"


HEAD = ["milliseconds", "clients", "p50", "p95", "p99", "req/s", "p50", "p95", "p99", "calls/s", "ratio"]


def head() -> None:
    print(COLUMNS.format("", "", "served", "", "", "", "floor", "", "", "", ""))
    print(COLUMNS.format(*HEAD), flush=True)


def row(title: str, clients: int, served: Figures, floor: Figures) -> None:
    """`ratio` is the served p50 over the floor's."""
    print(
        COLUMNS.format(title, clients, *_cells(served), *_cells(floor), f"{served.p50 / floor.p50:.2f}"),
        flush=True,
    )


def _cells(one: Figures) -> list[str]:
    return [f"{one.p50:.2f}", f"{one.p95:.2f}", f"{one.p99:.2f}", f"{one.rate:,.0f}"]
