"""Why a session was told something, in words."""

from django import template

register = template.Library()

BECAUSE = {
    "recalled": "recalled for the query",
    "recent": "among the newest, where nothing was recalled",
    "current": "a slot that holds of the person",
    "named": "named by the request",
    "agent": "deployed for the agent",
    "bm25": "found by its words",
    "hybrid": "found by its words and its meaning",
    "topic_key": "found by its topic key",
    "recency": "among the newest",
}


@register.filter
def because(why: str) -> str:
    """How it came to be told; what is not known stands as it is kept."""
    return BECAUSE.get(why, why.replace("_", " ")) if why else "the reason is not kept"
