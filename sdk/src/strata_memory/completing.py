"""What a call means beyond what its caller says. Pure."""

from typing import Any

NOT_OF_SLOTS = (
    "agent_id", "project", "session_id", "memory_type", "topics", "since", "until", "as_of",
)  # fmt: skip


def with_slots(fields: dict[str, Any]) -> dict[str, Any]:
    """A recall about a user, and nothing that slots are not chosen by, is about their slots, too: what
    `remember` learns of somebody is kept as slots, and the server looks for episodes alone unless told."""
    is_narrower = any(fields.get(name) for name in NOT_OF_SLOTS)
    if "kinds" in fields or is_narrower or not fields.get("user_id"):
        return fields
    return {**fields, "kinds": ["episode", "entity"]}
