"""A conversation as text for a language model. Pure."""

import json
from collections.abc import Sequence

from recall.summary import select_notes
from working.types import Turn

LONGEST = 60_000  # characters; some 15,000 tokens
LONGEST_RESULT = 1_000  # characters of a tool's result: what came of it is mostly said afterwards
BEGINNING = 0.25  # share of the whole for how it began, which tells what it was about
NOTED = 0.1  # as much again for sentences of what is left out


def render(turns: Sequence[Turn], *, longest: int = LONGEST) -> str:
    """`role: content` for each turn. What is too long loses turns after its beginning, and says how many; the
    sentences of theirs that later work cannot do without stay."""
    lines = [_line(turn)[:longest] for turn in turns]
    if sum(map(len, lines)) + len(lines) <= longest:
        return "\n".join(lines)
    head = _fitting(lines, int(longest * BEGINNING))
    tail = _fitting(lines[head:][::-1], longest - int(longest * BEGINNING))
    tail = max(tail, 1)  # the newest, however long
    gap = _gap(lines[head : len(lines) - tail], int(longest * NOTED))
    return "\n".join([*lines[:head], gap, *lines[len(lines) - tail :]])


def _gap(lines: Sequence[str], longest: int) -> str:
    noted = " ".join(f'"{one}"' for one in select_notes(lines, longest=longest))
    return f"[{len(lines)} turns left out; in them: {noted}]" if noted else f"[{len(lines)} turns left out]"


def _fitting(lines: Sequence[str], longest: int) -> int:
    """How many of the lines, from the first, fit."""
    total = 0
    for count, line in enumerate(lines):
        total += len(line) + 1
        if total > longest:
            return count
    return len(lines)


def _line(turn: Turn) -> str:
    parts = [_text(turn.content)] if turn.content is not None else []
    if turn.tool_calls:
        parts.append(f"[calls {_text(turn.tool_calls)}]")
    text = " ".join(parts)
    if turn.role == "tool" and len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}…"
    return f"{turn.role}: {text}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
