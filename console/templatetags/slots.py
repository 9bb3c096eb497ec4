"""How the value of a slot looks, and what was said in a session: text as text, anything else as JSON."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from console.templatetags.memory import line, pretty, visible, words
from episodic.slots import json_text

register = template.Library()
LONGEST_SHOWN = 1_200  # characters of a turn that stand without being asked for


@register.filter
def value_line(value: Any) -> SafeString:
    """In one line of a list."""
    return line(value if isinstance(value, str) else json_text(value))


@register.filter
def value_whole(value: Any) -> SafeString:
    """As it is kept."""
    return words(value) if isinstance(value, str) else pretty(value)


@register.filter
def seen(text: object) -> SafeString:
    """A piece of a memory within a line of others."""
    return visible(text)


@register.filter
def content_parts(entry: Any) -> tuple[str, Any, int]:
    """What an event or turn says: its kind, the value, and how long it is if it is to be folded."""
    content = entry.content
    if content is None or content == "":
        return "", None, 0
    if isinstance(content, str):
        return "text", content, len(content) if len(content) > LONGEST_SHOWN else 0
    return "json", content, len(json_text(content))


@register.filter
def called(event: Any) -> list[str]:
    """The names of the tools that a turn calls; clients send what they like in their place."""
    calls = (event.tool or {}).get("tool_calls")
    functions = (
        [one.get("function") for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    )
    return [str(one.get("name", "?")) for one in functions if isinstance(one, dict)][:10]
