"""Redis keys of a session's ledger, in its slot. They have no TTL: they go with the conversation."""

from working.keys import tag
from working.types import SessionRef


def items(ref: SessionRef) -> str:
    """The hash of what was injected: item key to marker."""
    return f"skill:ledger:{tag(ref)}"


def state(ref: SessionRef) -> str:
    """Whether the hash is coherent with PostgreSQL, and who owns the session."""
    return f"agent:session:{tag(ref)}:ledger"
