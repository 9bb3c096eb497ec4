"""A question with what is remembered around it, as messages for a language model: the wording that clients of
Redis agent memory know."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from episodic.types import EpisodeFilter
from recall.long_term import FoundRecord, RecordQuery, search_records
from recall.working_memory import WindowSize, read_working_memory, trimmed
from screening.fences import escape, has_fences
from tenants.caller import Caller
from tenants.errors import Invalid
from working.types import SessionAddress
from working.workspace import Workspace

SUMMARY = "## A summary of the conversation so far:\n"
MEMORIES = "## Long term memories related to the user's query\n"
NONE_FOUND = " No relevant long-term memories found."
HEADING = re.compile(r"^(\s*)(?=#)", re.MULTILINE)

WHOLE = WindowSize()
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class SessionPart:
    """The session that is told, as much of it as fits into the window."""

    address: SessionAddress
    window: WindowSize = WHOLE


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message of the prompt."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages, the question last, and the records that are told in them; None: none were asked for."""

    messages: tuple[PromptMessage, ...]
    long_term_memories: tuple[FoundRecord, ...] | None


def memory_prompt(
    *,
    caller: Caller,
    query: str,
    session: SessionPart | None,
    search: RecordQuery | Literal[True] | None,
    now: datetime,
) -> Prompt:
    """The summary and the messages of the session, the records that `search` finds, and the query.

    A session that there is not tells nothing. True searches for the query, as does a search without a text of
    its own; one that names no user is about the session's. Raises Invalid when neither is asked for, and what
    reading and searching raise.
    """
    if session is None and search is None:
        raise Invalid("Either session or long_term_search must be provided", "session")
    messages: list[PromptMessage] = []
    if session is not None:
        found = read_working_memory(caller=caller, address=session.address, now=now)
        if found is not None:
            messages += _told(trimmed(found, session.window))
    records = None
    if search is not None:
        asked = _asked(RecordQuery() if search is True else search, query, session)
        records = search_records(caller=caller, query=asked, now=now).records
        messages.append(PromptMessage("system", MEMORIES + _listed(records)))
    messages.append(PromptMessage("user", query))
    return Prompt(tuple(messages), records)


def record_id(record: FoundRecord) -> str:
    """What the client calls it; of an episode that came without such a name, its own id."""
    if record.episode is not None:
        return record.episode.external_id or str(record.episode.id)
    return str(record.working.record["id"]) if record.working else ""


def record_text(record: FoundRecord) -> str:
    """What it says."""
    if record.episode is not None:
        return record.episode.text
    return str(record.working.record["text"]) if record.working else ""


def _asked(search: RecordQuery, query: str, session: SessionPart | None) -> RecordQuery:
    text = query if search.text is None else search.text
    return replace(search, text=text, where=_of_user(search.where, session))


def _of_user(where: EpisodeFilter, session: SessionPart | None) -> EpisodeFilter:
    user_id = session.address.user_id if session else None
    names_one = where.user_id is not None or any(test.field == "user_id" for test in where.tests)
    return where if names_one or not user_id else replace(where, user_id=user_id)


def _told(found: Workspace) -> Iterator[PromptMessage]:
    if found.context:
        yield PromptMessage("system", SUMMARY + _harmless(found.context))
    for one in found.messages:
        yield PromptMessage("user" if one.role == "user" else "assistant", one.content)


def _listed(records: Sequence[FoundRecord]) -> str:
    lines = (f" - {_line(record_text(one))} (ID: {_line(record_id(one))})" for one in records)
    return "\n".join(lines) or NONE_FOUND


def _line(text: str) -> str:
    """The text in one line, so that nothing in it begins another memory or another part."""
    return _unfenced(" ".join(filter(None, (line.strip() for line in text.splitlines()))))


def _harmless(text: str) -> str:
    """The text, of several lines maybe, none of which is a heading."""
    return HEADING.sub(r"\1\\", _unfenced(text))


def _unfenced(text: str) -> str:
    """No mark that other prompts put around what is remembered opens or closes in it."""
    return escape(text) if has_fences(text) else text
