"""How memories and figures look in every page. Memories are other people's words: what they hold is shown,
never obeyed."""

import json
import re
import unicodedata
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# Marks that turn the direction of text, or are not seen at all: shown by their number instead.
UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
PREVIEW = 280
STEPS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (86_400 * 60, 86_400, "d"))


def visible(text: object) -> SafeString:
    """Escaped, with a label in place of each character that would not be seen."""
    return mark_safe(UNSEEN.sub(_label, str(escape(str(text)))))  # noqa: S308  escaped right here


def _label(match: re.Match[str]) -> str:
    char = match.group()
    name = unicodedata.name(char, "control character").capitalize()
    return f'<span class="unseen" title="{name}">U+{ord(char):04X}</span>'


@register.filter
def words(text: object) -> SafeString:
    """A whole memory, as it was written."""
    return format_html('<div class="words" dir="auto">{}</div>', visible("" if text is None else text))


@register.filter
def line(text: object, length: int = PREVIEW) -> SafeString:
    """A memory in one line of a list."""
    flat = " ".join(str("" if text is None else text).split())
    cut = flat if len(flat) <= length else flat[: length - 1] + "…"
    return format_html('<bdi class="line">{}</bdi>', visible(cut))


@register.filter
def name(text: object) -> SafeString:
    """An id or a name of somebody else's making."""
    return format_html("<bdi>{}</bdi>", visible("" if text is None else text))


@register.filter
def pretty(value: object) -> SafeString:
    """JSON, laid out for reading."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return format_html('<pre class="json" tabindex="0">{}</pre>', visible(text))


@register.filter
def moment(value: datetime | None) -> SafeString:
    """How long ago; the exact moment is the tooltip."""
    if value is None:
        return mark_safe('<span class="soft">-</span>')
    exact = value.astimezone(timezone.get_current_timezone()).strftime("%Y-%m-%d %H:%M:%S UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact, _ago(value))


@register.filter
def badge(kind: object) -> SafeString:
    """The kind of a thing, or its state, in its colour."""
    return format_html('<span class="badge" data-of="{}">{}</span>', kind, str(kind).replace("_", " "))


@register.simple_tag
def bar(value: float | None, most: float, label: str = "") -> SafeString:
    """A figure as a bar. Drawn without inline style, which the page's policy forbids."""
    share = 0.0 if not most or value is None else max(0.0, min(1.0, value / most))
    return format_html(
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="bar-track" width="100" height="6"/>'
        '<rect class="bar-value" width="{}" height="6"/></svg>',
        label or f"{share:.0%}",
        f"{share * 100:.2f}",
    )


@register.filter
def milliseconds(value: float | None) -> str:
    """`12.3 ms`"""
    return "-" if value is None else f"{value:.1f} ms"


@register.filter
def get(mapping: dict[Any, Any], key: Any) -> Any:
    """`mapping[key]`, or nothing."""
    return mapping.get(key)


def _ago(value: datetime) -> str:
    seconds = (timezone.now() - value).total_seconds()
    if seconds < 0:
        return value.strftime("%Y-%m-%d")
    if seconds < 1:
        return "just now"
    for limit, size, unit in STEPS:
        if seconds < limit:
            return f"{int(seconds // size)} {unit} ago"
    return value.strftime("%Y-%m-%d")
