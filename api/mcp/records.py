"""The tools that save, read, edit, delete and merge long-term records, and the one that tells the time."""

from typing import cast

from django.conf import settings
from django.utils import timezone

from api.mcp.connection import Connection
from api.mcp.failing import failing_as
from api.mcp.record_answers import record, told
from api.mcp.record_arguments import (
    CompactArguments,
    CreateArguments,
    DeleteArguments,
    EditArguments,
    IdArguments,
    Record,
    WhoseArguments,
    parse,
    schema_of,
)
from api.mcp.tool import Arguments, Tool, ToolError
from episodic.access import access_of
from episodic.compacting import compact_records
from episodic.records import access_record, delete_records
from episodic.types import NewRecord, RecordChanges
from ledger.models import WriteDecision
from recall.gate import REFUSED
from recall.saving_edits import save_record_edit
from recall.saving_records import save_sent_records

DISABLED = "Long-term memory is disabled"
NOTHING = "No fields provided for update"


def refuse_if_disabled() -> None:
    """Raises ToolError where the deployment has no long-term memory."""
    if not settings.LONG_TERM_MEMORY:
        raise ToolError(DISABLED)


def tell_time(_connection: Connection, _given: Arguments) -> str:
    """`get_current_datetime`"""
    now = timezone.now()
    return told({"iso_utc": now, "unix_ts": int(now.timestamp())})


def create(connection: Connection, given: Arguments) -> str:
    """`create_long_term_memories`: in one commit."""
    refuse_if_disabled()
    new = [_new(one) for one in parse(CreateArguments, given).memories]
    with failing_as("failed to create memories"):
        done = save_sent_records(caller=connection.caller, records=new, deduplicate=True, now=timezone.now())
    if done.refused:
        told_of = (f"memories.{one.place}: {REFUSED[one.decision.reason]}" for one in done.refused)
        raise ToolError(f"nothing was saved: {' '.join(told_of)}")
    ids = [one.episode.external_id or str(one.episode.id) for one in done.saved]
    held = [f"memories.{one.place}" for one in done.held]
    return told({"status": "ok", "memory_ids": ids} | ({"waiting_for_confirmation": held} if held else {}))


def get(connection: Connection, given: Arguments) -> str:
    """`get_long_term_memory`"""
    refuse_if_disabled()
    asked = parse(IdArguments, given)
    with failing_as("failed to get the memory"):
        found = access_record(caller=connection.caller, record_id=asked.memory_id, **_whose(asked))
        used = access_of(caller=connection.caller, ids=[found.id])
    return told(record(found, used[found.id]))


def edit(connection: Connection, given: Arguments) -> str:
    """`edit_long_term_memory`"""
    refuse_if_disabled()
    asked = parse(EditArguments, given)
    changes = asked.model_dump(exclude=set(IdArguments.model_fields), exclude_none=True)
    if not changes:
        raise ToolError(NOTHING)
    with failing_as("failed to edit the memory"):
        edited = save_record_edit(
            caller=connection.caller,
            record_id=asked.memory_id,
            changes=cast(RecordChanges, changes),
            **_whose(asked),
            now=timezone.now(),
        )
    if isinstance(edited, WriteDecision):
        raise ToolError(f"nothing was changed: {REFUSED[edited.reason]}")
    return told(record(edited))


def delete(connection: Connection, given: Arguments) -> str:
    """`delete_long_term_memories`"""
    refuse_if_disabled()
    asked = parse(DeleteArguments, given)
    with failing_as("failed to delete memories"):
        count = delete_records(
            caller=connection.caller, record_ids=asked.memory_ids, **_whose(asked), now=timezone.now()
        )
    return told({"status": f"ok, deleted {count} memories"})


def compact(connection: Connection, given: Arguments) -> str:
    """`compact_long_term_memories`"""
    refuse_if_disabled()
    asked = parse(CompactArguments, given)
    with failing_as("failed to compact memories"):
        done = compact_records(
            caller=connection.caller,
            namespace=asked.namespace,
            user_id=asked.user_id,
            limit=asked.limit,
            now=timezone.now(),
        )
    return told({"status": f"ok, {done.remaining} memories remaining after compaction"})


def _whose(asked: WhoseArguments) -> dict[str, str | None]:
    return {"user_id": asked.of_user, "namespace": asked.of_namespace}


def _new(given: Record) -> NewRecord:
    return NewRecord(
        id=given.id,
        text=given.text,
        session_id=given.session_id or "",
        user_id=given.user_id or None,
        namespace=given.namespace or "",
        event_date=given.event_date,
        topics=tuple(given.topics),
        entities=tuple(given.entities),
        memory_type=given.memory_type,
    )


GET_CURRENT_DATETIME = Tool(
    name="get_current_datetime",
    title="Tell the time",
    description=(
        "The current date and time in UTC. Call it before you save or edit a memory about today, yesterday "
        "or last week, so that its text and its event_date name the date itself."
    ),
    schema={"type": "object", "properties": {}},
    scope="read",
    run=tell_time,
)
CREATE_LONG_TERM_MEMORIES = Tool(
    name="create_long_term_memories",
    title="Save long-term records",
    description=(
        "Save facts for good, each a record of its own: what the user prefers or is, what was decided, what "
        "happened and when. Search first: what is there word for word is not saved again, and what says the "
        "same in other words becomes one. Of what happened, name the date in the text and in event_date."
    ),
    schema=schema_of(CreateArguments),
    scope="write",
    run=create,
    allowed_by=lambda memory: memory.auto_save,
)
GET_LONG_TERM_MEMORY = Tool(
    name="get_long_term_memory",
    title="Read a long-term record",
    description=(
        "One long-term record by its id, with everything that is known of it: its topics, entities and "
        "dates, whom it is about and where it comes from. Take the id from search_long_term_memory."
    ),
    schema=schema_of(IdArguments),
    scope="read",
    run=get,
)
EDIT_LONG_TERM_MEMORY = Tool(
    name="edit_long_term_memory",
    title="Correct a long-term record",
    description=(
        "Change a long-term record when the user corrects it or something has changed. Only what is named "
        "changes; what it said before is kept in its history. Take the id from search_long_term_memory."
    ),
    schema=schema_of(EditArguments),
    scope="write",
    run=edit,
)
DELETE_LONG_TERM_MEMORIES = Tool(
    name="delete_long_term_memories",
    title="Delete long-term records",
    description=(
        "Delete long-term records for good: what the user wants to be forgotten, or what was never true. It "
        "cannot be undone; of what has merely changed, edit the record. Take the ids from "
        "search_long_term_memory."
    ),
    schema=schema_of(DeleteArguments),
    scope="write",
    run=delete,
    destroys=True,
)
COMPACT_LONG_TERM_MEMORIES = Tool(
    name="compact_long_term_memories",
    title="Merge long-term records",
    description=(
        "Merge long-term records that say the same, word for word or in other words: one is left, which "
        "stands for all, their ids included. It happens every night by itself; call it after "
        "saving very much."
    ),
    schema=schema_of(CompactArguments),
    scope="write",
    run=compact,
)
TOOLS = (
    GET_CURRENT_DATETIME,
    CREATE_LONG_TERM_MEMORIES,
    GET_LONG_TERM_MEMORY,
    EDIT_LONG_TERM_MEMORY,
    DELETE_LONG_TERM_MEMORIES,
    COMPACT_LONG_TERM_MEMORIES,
)
