"""The regular expressions of tool hooks, by RE2: whatever the pattern, matching takes time in proportion to
the text. Its syntax is the one that the rules were written for; back references and look-around are not in
it."""

from functools import lru_cache
from typing import Any

import re2

LONGEST = 1_000  # characters of a pattern
# Of a compiled pattern. RE2 keeps what it learns while matching in what is left of it; when that is too
# little, it goes on in time proportional to text and program, hence the bound on programs.
MOST_MEMORY = 1 << 20
MOST_INSTRUCTIONS = 5_000  # of a pattern's program: on 50,000 characters, one or two seconds at worst
KEPT = 256  # compiled patterns in a process


class BadPattern(ValueError):
    """The pattern is not one of RE2's, or is too large; the message says why."""


def check(pattern: str) -> int:
    """The size of the pattern's program. Raises BadPattern."""
    if len(pattern) > LONGEST:
        raise BadPattern(f"it is longer than {LONGEST} characters")
    try:
        size: int = _compiled(pattern).programsize
    except re2.error as error:
        raise BadPattern(_reason(error)) from error
    if size > MOST_INSTRUCTIONS:
        raise BadPattern("it is too large: repeat less")
    return size


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text. Raises re2.error for one that `check` refuses."""
    return _compiled(pattern).search(text.encode(errors="replace")) is not None


@lru_cache(maxsize=KEPT)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # else each refusal is told on stderr
    options.never_capture = True
    options.max_mem = MOST_MEMORY
    return re2.compile(pattern, options=options)


def _reason(error: Exception) -> str:
    told = error.args[0] if error.args else "RE2 does not take it"
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
