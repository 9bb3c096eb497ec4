"""How what a tool's call leaves behind is worded (AgentOps contract, §3.2). Pure.

Names of tools and arguments are clients' own: whatever holds one is cut to what an observation takes.
"""

import hashlib
from dataclasses import dataclass

from observations.validation import LONGEST, LONGEST_TAG
from recall.hooks.rules import ToolResult, first_text
from tenants.agents.spec import MemorySaveRule

LONGEST_OUTPUT = 1_000  # characters of an output that are saved
LONGEST_SUBJECT = 80  # characters of an argument in a title
LONGEST_ERROR = 200  # characters of an error in an audit
LONGEST_ARGUMENTS = 500  # characters of the arguments' names in an audit
SUBJECTS = ("command", "path")
DIGEST = 16  # hex digits


@dataclass(frozen=True, slots=True)
class Capture:
    """What an observation is going to say."""

    type: str
    title: str
    content: str
    tags: tuple[str, ...]
    scope: str = "project"
    topic_key: str = ""


def capture(rule: MemorySaveRule, result: ToolResult) -> Capture:
    """What the rule saves of the result."""
    subject = first_text(result.args, SUBJECTS)[:LONGEST_SUBJECT]
    title = f"Auto-captured: {result.tool}" + (f" — {subject}" if subject else "")
    return Capture(
        type=_fit(rule.type, LONGEST["type"]).strip() or "discovery",
        title=_fit(title, LONGEST["title"]),
        content=shorten(result.output, LONGEST_OUTPUT),
        tags=("auto-capture", "hook", _fit(result.tool, LONGEST_TAG)),
        scope=rule.scope,
    )


def audit(result: ToolResult) -> Capture:
    """That the tool was called and how that ended; of its arguments the names alone, since their values may
    be secrets."""
    outcome = "error" if result.error else "success"
    took = "" if result.duration_ms is None else f"{result.duration_ms}ms"
    lines = {
        "tool": result.tool,
        "outcome": outcome,
        "duration": took,
        "arguments": shorten(", ".join(result.args), LONGEST_ARGUMENTS),
        "error": shorten(result.error, LONGEST_ERROR),
    }
    ended = ", ".join(filter(None, (outcome, took)))
    return Capture(
        type="audit",
        title=_fit(f"Audit: {result.tool} ({ended})", LONGEST["title"]),
        content="\n".join(f"{name}: {value}" for name, value in lines.items() if value),
        tags=("audit", "hook", _fit(result.tool, LONGEST_TAG)),
        topic_key=_topic(f"audit/{result.tool}"),
    )


def shorten(text: str, longest: int) -> str:
    """The text, with "..." in place of what exceeds so many characters."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def _topic(key: str) -> str:
    """The key itself, or one as long as a key may be that no other such key is cut to."""
    longest = LONGEST["topic_key"]
    if len(key.encode()) <= longest:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()[:DIGEST]
    return f"{_fit(key, longest - DIGEST - 1)}#{digest}"


def _fit(text: str, longest: int) -> str:
    """As much of the text as so many bytes of UTF-8 hold."""
    return text.encode()[:longest].decode(errors="ignore")
