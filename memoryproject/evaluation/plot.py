"""Bars with their intervals as an SVG that needs nothing else and suits light and dark pages. Pure."""

from collections.abc import Iterator, Mapping
from html import escape

from memoryproject.evaluation.report import Assessed

SHOWN = {"recall@10": "recall@10", "mrr": "MRR"}
WIDTH, LABELS, VALUES = 640, 120, 56  # in pixels: all, left of the bars, right of them
ROW, BAR, TITLE, MARGIN = 26, 14, 34, 12
SCALE = WIDTH - LABELS - VALUES
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.grid { stroke: #d1d9e0 }
.bar { fill: #4f7fd0 }
.interval { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .grid { stroke: #3d444d }
  .bar { fill: #5f8fe0 }
  .interval { stroke: #e6edf3 }
}
"""


def svg(profiles: Mapping[str, Assessed], *, shown: Mapping[str, str] = SHOWN, title: str = "") -> str:
    """Bars from 0 to 1, with 95 % intervals where there are any: for each figure in `shown`, which has its
    heading, one per profile that has it."""
    panels = {name: {one: of for one, of in profiles.items() if name in of} for name in shown}
    height = 2 * MARGIN + sum(TITLE + ROW * len(bars) for bars in panels.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title) or 'recall@10 and MRR by profile, with 95 % intervals'}</title>",
        f"<style>{STYLE}</style>",
    ]
    top = MARGIN
    for name, bars in panels.items():
        parts += _panel(name, shown[name], bars, top=top)
        top += TITLE + ROW * len(bars)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(name: str, title: str, profiles: Mapping[str, Assessed], *, top: int) -> Iterator[str]:
    bars = top + TITLE
    yield f'<text class="title" x="{LABELS}" y="{top + 16}">{escape(title)}</text>'
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = _x(tick)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{bars - 8}" y2="{bars + ROW * len(profiles) - 8}"/>'
    for at, (profile, one) in enumerate(profiles.items()):
        yield from _bar(profile, one[name], one["ci95"].get(name), middle=bars + at * ROW + BAR // 2)


def _bar(profile: str, value: float, interval: list[float] | None, *, middle: int) -> Iterator[str]:
    top, baseline = middle - BAR // 2, middle + 4
    yield f'<text x="{LABELS - 8}" y="{baseline}" text-anchor="end">{escape(profile)}</text>'
    width = round(value * SCALE, 1)
    yield f'<rect class="bar" x="{LABELS}" y="{top}" width="{width}" height="{BAR}" rx="2"/>'
    end = value
    if interval:
        low, high = map(_x, interval)
        end = max(value, interval[1])
        yield f'<line class="interval" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
        for x in (low, high):
            yield f'<line class="interval" x1="{x}" x2="{x}" y1="{middle - 4}" y2="{middle + 4}"/>'
    yield f'<text x="{_x(end) + 8:g}" y="{baseline}">{value:.3f}</text>'


def _x(value: float) -> float:
    return round(LABELS + value * SCALE, 1)
