"""SQL as logs and traces may hold it: its shape, without the values that stand in it."""

import re
from functools import lru_cache

LONGEST = 1_000
# From left to right in one pass: what looks like a quote within a comment, or the reverse, begins nothing.
_PART = re.compile(
    r"""
    (?P<comment> /\*.*?(?:\*/|\Z) | --[^\n]* )
  | (?P<name> "(?:[^"]|"")*(?:"|\Z) )
  | \$(?P<tag>\w*)\$ .*? (?:\$(?P=tag)\$|\Z)
  | \b[eE]'(?:[^'\\]|''|\\.)*(?:'|\Z)      # here alone a backslash escapes
  | (?:\b[bBxXnN]|\b[uU]&)?'(?:[^']|'')*(?:'|\Z)
  | (?<![\w$%.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b
    """,
    re.DOTALL | re.VERBOSE,
)
_VALUE = r"(?:\?|%s|\$\d+|%\(\w+\)s)(?:::\w+)?"
_LIST = re.compile(rf"\(({_VALUE})(?:, ?{_VALUE})+\)")


@lru_cache(maxsize=1024)
def shape(sql: str) -> str:
    """The statement on one line with `?` for every literal and `…` for the rest of a list; never too long."""
    text = " ".join(_PART.sub(_kept, sql).split())
    text = _LIST.sub(r"(\1, …)", text)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _kept(part: re.Match[str]) -> str:
    if part["comment"] is not None:
        return " "
    return part["name"] or "?"
