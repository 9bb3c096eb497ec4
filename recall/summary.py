"""The deterministic summary of a session. Pure; the wording is the AgentOps dialect's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_QUOTE = 200  # characters of a message that are quoted
BEGIN = re.compile(r"^Turns ([0-9]{1,18}) to ([0-9]{1,18}): ", re.MULTILINE)  # of a part
LEFT_OUT = re.compile(r"\[[0-9]+ earlier summaries left out\]\n")
LONGEST_RUNNING = 6_000  # characters of a running summary; some 1,500 tokens


@dataclass(frozen=True, slots=True)
class Part:
    """The summary of some turns, by the numbers of the first and the last."""

    covers: tuple[int, int]
    text: str


def summarise(*, messages: int, first: str | None, last: str | None, inflected: bool = False) -> str:
    """`Session with N messages. Started: "…" — Ended: "…"`; only the count when no user spoke.

    `messages` counts user and assistant messages; `first` and `last` are the user's. The dialect says "1
    messages"; `inflected` says "1 message".
    """
    count = f"Session with {messages} {'message' if inflected and messages == 1 else 'messages'}."
    if first is None or last is None:
        return count
    return f'{count} Started: "{first[:LONGEST_QUOTE]}" — Ended: "{last[:LONGEST_QUOTE]}"'


def run_together(parts: Sequence[Part], *, longest: int = LONGEST_RUNNING) -> str:
    """The running summary: each part in its order, with the turns it tells of. Of what is too long the oldest
    parts are left out, and counted; the newest always stays."""
    if len(parts) == 1:
        return parts[0].text
    lines: list[str] = []
    total = 0
    for part in reversed(parts):
        line = f"Turns {part.covers[0]} to {part.covers[1]}: {part.text}"
        total += len(line) + 1
        if lines and total > longest:
            lines.append(f"[{len(parts) - len(lines)} earlier summaries left out]")
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def take_apart(running: str) -> list[Part]:
    """The parts of a running summary; none of one that is a single part, which does not say what turns it
    tells of."""
    earlier = LEFT_OUT.match(running)
    begins = list(BEGIN.finditer(running))
    if not begins or begins[0].start() != (earlier.end() if earlier else 0):
        return []
    ends = [*(one.start() for one in begins[1:]), len(running)]
    return [
        Part((int(one[1]), int(one[2])), running[one.end() : end].removesuffix("\n"))
        for one, end in zip(begins, ends, strict=True)
    ]
