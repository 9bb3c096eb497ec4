"""The tools that read and write a session as a whole."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from api.mcp.connection import Connection
from api.mcp.failing import failing_as
from api.mcp.record_answers import told, working_memory
from api.mcp.record_arguments import (
    GetSessionArguments,
    Record,
    SessionArguments,
    SetSessionArguments,
    parse,
    schema_of,
)
from api.mcp.tool import Arguments, Tool, ToolError
from recall.working_memory import WindowSize, put_working_memory, read_working_memory, trimmed
from working.types import GivenWorkspace, NewMessage, SessionAddress

DATES = ("created_at", "updated_at", "last_accessed")
UNNAMED = WindowSize()


def put(connection: Connection, given: Arguments) -> str:
    """`set_working_memory`"""
    asked, now = parse(SetSessionArguments, given), timezone.now()
    workspace = GivenWorkspace(
        messages=tuple(
            NewMessage(one.role, one.content, one.created_at or now, one.id) for one in asked.messages
        ),
        memories=tuple(_pending(one, now) for one in asked.memories),
        context=asked.context,
        data=asked.data,
        ttl_seconds=asked.ttl_seconds,
    )
    with failing_as("failed to set working memory"):
        done = put_working_memory(
            caller=connection.caller, address=_address(asked), given=workspace, window=UNNAMED, now=now
        )
    return told(working_memory(done))


def get(connection: Connection, given: Arguments) -> str:
    """`get_working_memory`"""
    asked = parse(GetSessionArguments, given)
    with failing_as("failed to get working memory"):
        found = read_working_memory(caller=connection.caller, address=_address(asked), now=timezone.now())
    if found is None:
        raise ToolError(f"Session {asked.session_id} not found")
    return told(working_memory(trimmed(found, UNNAMED, asked.recent_messages_limit)))


def _address(asked: SessionArguments) -> SessionAddress:
    return SessionAddress(asked.session_id, asked.user_id or None, asked.namespace or None)


def _pending(given: Record, now: datetime) -> dict[str, Any]:
    """The record as the session keeps it until it is remembered: JSON, without nulls."""
    return dict.fromkeys(DATES, now.isoformat()) | given.model_dump(mode="json", exclude_none=True)


SET_WORKING_MEMORY = Tool(
    name="set_working_memory",
    title="Write a session",
    description=(
        "Make the working memory of a session what you send: its messages, a summary of what came before "
        "them, any data, and facts that are to become long-term records. All of it is replaced: read it "
        "first, and send back what is to stay."
    ),
    schema=schema_of(SetSessionArguments),
    scope="write",
    run=put,
)
GET_WORKING_MEMORY = Tool(
    name="get_working_memory",
    title="Read a session",
    description=(
        "The working memory of a session: its messages, the summary of what came before them, its data, and "
        "the facts that wait to become long-term records. A session is named by its id together with the "
        "user and the namespace that it was written with."
    ),
    schema=schema_of(GetSessionArguments),
    scope="read",
    run=get,
)
TOOLS = (SET_WORKING_MEMORY, GET_WORKING_MEMORY)
