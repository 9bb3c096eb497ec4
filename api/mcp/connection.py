"""Whom a connection speaks for, and which project and session it means."""

import hashlib
from dataclasses import dataclass

from api.parsers import check_text
from observations.validation import check
from tenants.agents.projects import project_of
from tenants.caller import Caller

DEFAULT_PROJECT = "default"


@dataclass(frozen=True, slots=True)
class Connection:
    """`session_id` is the session that what is saved belongs to."""

    caller: Caller
    project: str
    session_id: str


def connect(*, caller: Caller, project: str, session_id: str) -> Connection:
    """The connection of that caller.

    Without a project named, it is the key's or its agent's, else `default`; without a session, the one that
    calls with such keys share in that project. Raises Forbidden for a project that the key does not reach,
    Invalid for names that cannot be kept.
    """
    meant = project_of(caller, check_text(project, "project")) or DEFAULT_PROJECT
    session_id = check_text(session_id, "session_id") or _default_session(caller, meant)
    check(project=meant, session_id=session_id)
    return Connection(caller, meant, session_id)


def _default_session(caller: Caller, project: str) -> str:
    """`mcp-<project>`. Keys that are bound have another for each binding: a session belongs to one user,
    agent and project, and would be out of reach for the others'."""
    bound = (caller.user_id, caller.agent_id, caller.project)
    if not any(bound):
        return f"mcp-{project}"
    return f"mcp-{project}-{hashlib.sha256(repr(bound).encode()).hexdigest()[:12]}"
