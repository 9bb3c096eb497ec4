"""The block that is put into a prompt (AgentOps contract, §2.1). Pure."""

import re
from collections.abc import Sequence

FENCE = re.compile(r"<(?=/?memory:)", re.IGNORECASE)


def render_block(*, summaries: Sequence[str], items: Sequence[tuple[str, str, str]]) -> str:
    """Summaries of sessions, then observations as (type, title, content). What is blank is left out, and a
    section without entries; empty if nothing remains. What would open or close a section loses its `<`: what
    is remembered cannot step out of its block."""
    sessions = [f"- {summary}" for summary in summaries if summary.strip()]
    context = [f"- [{kind}] {title}: {content}" for kind, title, content in items if content.strip()]
    sections = [_section("sessions", sessions), _section("context", context)]
    return "\n".join(section for section in sections if section)


def _section(name: str, lines: Sequence[str]) -> str:
    inside = [FENCE.sub("&lt;", line) for line in lines]
    return "\n".join([f"<memory:{name}>", *inside, f"</memory:{name}>"]) if lines else ""
