"""Numbers as people read them."""

from django import template

from console import charts

register = template.Library()


@register.filter
def thousands(value: float | None) -> str:
    """`1,234`"""
    return charts.plain(value)


@register.filter
def percent(value: float | None) -> str:
    """`87 %` of a share."""
    return charts.share(value)


@register.filter
def dollars(micros: int) -> str:
    """`$1.23` of millionths; small sums to the hundredth of a cent."""
    return f"${micros / 1e6:,.2f}" if micros >= 10_000 or not micros else f"${micros / 1e6:.4f}"


@register.filter
def part_of(done: int, total: int | None) -> str:
    """`120 of 400`, or what is done where nobody knows the whole."""
    return charts.plain(done) if total is None else f"{charts.plain(done)} of {charts.plain(total)}"
