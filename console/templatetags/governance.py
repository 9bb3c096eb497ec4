"""How decisions look."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.templatetags.memory import visible

register = template.Library()
LONGEST = 200
ORIGINS = {"agent": "this agent", "tenant": "the tenant", "default": "default"}


@register.filter
def value(given: Any) -> SafeString:
    """A value of the policy as JSON, in one line; nothing where the level leaves it open."""
    if given is None:
        return format_html('<span class="soft">{}</span>', "left open")
    text = json.dumps(given, ensure_ascii=False, default=str)
    return format_html("<bdi>{}</bdi>", visible(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"))


@register.filter
def origin(level: str) -> SafeString:
    """Which level decides it."""
    return format_html('<span class="badge origin" data-of="{}">{}</span>', level, ORIGINS[level])
