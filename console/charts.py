"""The geometry of charts. Pure: templates draw what is computed here, without scripts or inline style.

Coordinates are those of a viewBox of `WIDTH` by `HEIGHT`, already written as SVG has them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, HEIGHT = 480, 200
LEFT, RIGHT, TOP, BOTTOM = 58, 10, 10, 26
INNER, DEEP = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
MOST_LABELS = 4  # below the axis: more would run into one another on a telephone
GAP = 0.18  # of a bar's room

Values = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn: the key of its values, what it is called, and the class that colours it."""

    key: str
    label: str
    colour: str


@dataclass(frozen=True, slots=True)
class Rect:
    """A piece of a bar; `title` says what it means."""

    x: str
    y: str
    width: str
    height: str
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a line."""

    x: str
    y: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line; where a value is missing it is broken into several `paths`."""

    colour: str
    paths: tuple[str, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis, and where it stands."""

    at: str
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Chart:
    """What a template draws, and the same as a table: its head, and its rows with the newest first."""

    name: str
    label: str
    series: tuple[Series, ...]
    rects: tuple[Rect, ...]
    lines: tuple[Line, ...]
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_empty: bool


def plain(value: float | None) -> str:
    """`1,234`; of fractions one digit."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def share(value: float | None) -> str:
    """`87 %`"""
    return "-" if value is None else f"{value * 100:.0f} %"


def stacked(
    name: str, label: str, points: Sequence[tuple[str, Values]], series: Sequence[Series], *, when: str
) -> Chart:
    """One bar for each point, its series upon one another, the first at the bottom. `when` is what the points
    are called in the table."""
    top, step = scale(max((sum(value or 0 for value in values.values()) for _, values in points), default=0))
    return Chart(
        name, label, tuple(series), tuple(_bars(points, series, top)), (), _levels(top, step, plain),
        _labels([text for text, _ in points]), *_table(points, series, when, plain),
        is_empty=not any(value for _, values in points for value in values.values()),
    )  # fmt: skip


def lines(
    name: str,
    label: str,
    points: Sequence[tuple[str, Values]],
    series: Sequence[Series],
    *,
    when: str,
    top: float | None = None,
    axis: Callable[[str], str] = str,
    shown: Callable[[float | None], str] = plain,
) -> Chart:
    """A line for each series, broken where it has no value. `top` is where the axis ends; without one, above
    the highest value. `axis` shortens what points are called for the labels below it."""
    highest = max((value or 0 for _, values in points for value in values.values()), default=0)
    end, step = (top, top / 4) if top else scale(highest)
    return Chart(
        name, label, tuple(series), (), tuple(_line(points, one, end, shown) for one in series),
        _levels(end, step, shown), _labels([axis(text) for text, _ in points]),
        *_table(points, series, when, shown),
        is_empty=all(value is None for _, values in points for value in values.values()),
    )  # fmt: skip


def scale(highest: float) -> tuple[float, float]:
    """Where an axis ends that shows `highest`, and its step: 1, 2 or 5 of a power of ten, and four of them or
    so."""
    if highest <= 4:
        return 4.0, 1.0
    rough = highest / 4
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
    return step * ceil(highest / step), step


def _bars(points: Sequence[tuple[str, Values]], series: Sequence[Series], top: float) -> Iterator[Rect]:
    room = INNER / max(len(points), 1)
    for place, (text, values) in enumerate(points):
        y = float(TOP + DEEP)
        for one in series:
            value = values.get(one.key) or 0
            height = DEEP * value / top
            y -= height
            if value:
                x, width = LEFT + room * (place + GAP / 2), room * (1 - GAP)
                title = f"{text}: {plain(value)} {one.label}"
                yield Rect(_n(x), _n(y), _n(width), _n(height), one.colour, title)


def _line(
    points: Sequence[tuple[str, Values]], series: Series, top: float, shown: Callable[[float | None], str]
) -> Line:
    room = INNER / max(len(points), 1)
    paths: list[list[str]] = [[]]
    dots = []
    for place, (text, values) in enumerate(points):
        value = values.get(series.key)
        if value is None:
            paths.append([])
            continue
        x, y = _n(LEFT + room * (place + 0.5)), _n(TOP + DEEP * (1 - min(value / top, 1)))
        paths[-1].append(f"{x},{y}")
        dots.append(Dot(x, y, f"{text}: {series.label} {shown(value)}"))
    return Line(series.colour, tuple(" ".join(path) for path in paths if len(path) > 1), tuple(dots))


def _levels(top: float, step: float, shown: Callable[[float | None], str]) -> tuple[Tick, ...]:
    levels = [step * n for n in range(int(top / step + 0.5) + 1)]
    return tuple(Tick(_n(TOP + DEEP * (1 - level / top)), shown(level)) for level in levels)


def _labels(texts: Sequence[str]) -> tuple[Tick, ...]:
    """Of some points, the last among them."""
    room, every = INNER / max(len(texts), 1), max(1, ceil(len(texts) / MOST_LABELS))
    last = len(texts) - 1
    return tuple(
        Tick(_n(LEFT + room * (place + 0.5)), text, "end" if place == last else "middle")
        for place, text in enumerate(texts)
        if (last - place) % every == 0
    )


def _table(
    points: Sequence[tuple[str, Values]],
    series: Sequence[Series],
    when: str,
    shown: Callable[[float | None], str],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    rows = [(text, *(shown(values.get(one.key)) for one in series)) for text, values in reversed(points)]
    return (when, *(one.label for one in series)), tuple(rows)


def _n(value: float) -> str:
    return f"{value:.1f}"
