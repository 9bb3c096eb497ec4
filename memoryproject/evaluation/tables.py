"""The figures as Markdown, which is also what is printed. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from memoryproject.evaluation.figures import NAMES
from memoryproject.evaluation.report import Assessed
from memoryproject.replay.transcripts import ADVERSARIAL

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", ADVERSARIAL: "adversarial"}
MAIN = ("recall@10", "mrr")  # with their intervals, and by category
HEADINGS = {"mrr": "MRR"}


def markdown(profiles: Mapping[str, Assessed]) -> str:
    """Two tables: each profile's figures, the main ones with their 95 % intervals, and by category. All
    profiles have the same questions."""
    by_category = list(_by_category(profiles))
    return "\n".join([*overall(profiles), *([""] if by_category else []), *by_category]) + "\n"


def overall(profiles: Mapping[str, Assessed], of: str = "profile") -> Iterator[str]:
    """The table of each profile's figures; `of` is what a row is called."""
    head = [of, *(HEADINGS.get(name, name) for name in NAMES), "questions"]
    rows = [
        [profile, *(with_interval(one, name) for name in NAMES), str(one["questions"])]
        for profile, one in profiles.items()
    ]
    yield from aligned([head, *rows])


def _by_category(profiles: Mapping[str, Assessed]) -> Iterator[str]:
    first: Assessed = next(iter(profiles.values()))
    head = ["category", "questions"]
    head += [f"{profile} {HEADINGS.get(name, name)}" for profile in profiles for name in MAIN]
    rows = [
        [_category(number), str(one["questions"])]
        + [f"{p['by_category'][number][name]:.3f}" for p in profiles.values() for name in MAIN]
        for number, one in first["by_category"].items()
    ]
    if rows:
        yield from aligned([head, *rows])


def _category(number: str) -> str:
    known = CATEGORIES.get(int(number))
    left_out = ", not in the overall figures" if int(number) == ADVERSARIAL else ""
    return f"{number} {known}{left_out}" if known else number


def with_interval(one: Assessed, name: str) -> str:
    """A figure, with its 95 % interval if it is a main one and has one."""
    value = f"{one[name]:.3f}"
    if name not in MAIN or name not in one["ci95"]:
        return value
    low, high = one["ci95"][name]
    return f"{value} ({low:.3f}-{high:.3f})"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table whose source is readable as well."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for at, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        yield f"| {' | '.join(cells)} |"
        if at == 0:
            yield f"|{'-' * (widths[0] + 2)}|{'|'.join('-' * (width + 1) + ':' for width in widths[1:])}|"
