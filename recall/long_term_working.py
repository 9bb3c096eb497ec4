"""What of working memory says a query's words: the records that wait in sessions, and what was said there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.db.models import Q

from episodic.episodes import confine
from episodic.record_tests import LISTS, MOMENTS, FieldTest, record_name
from episodic.types import EpisodeFilter
from tenants.caller import Caller
from tenants.scope import scope
from working.models import Session
from working.pending import waiting
from working.redis import RedisAway
from working.types import Message, SessionAddress
from working.workspace import Workspace, read_workspace

MOST_SESSIONS = 50  # that are looked through, those used last
LOOKUPS = {"eq": "", "ne": "", "any": "__in", "none": "__in", "startswith": "__startswith"}
OF_SESSION = {"session_id": "external_id", "namespace": "namespace", "user_id": "user_id"}
AGAINST = ("ne", "none")


@dataclass(frozen=True, slots=True)
class WorkingMatch:
    """A record that waits in a session, as its client sent it, or a message as such a record."""

    session: Session
    kind: Literal["memory", "message"]
    record: Mapping[str, Any]


def beside(where: EpisodeFilter, found: Sequence[WorkingMatch]) -> EpisodeFilter:
    """The same without the records that are among these already: one that waits may be saved by now, or say
    something new."""
    names = tuple(_name(one) for one in found if one.kind == "memory")
    if not names:
        return where
    return replace(where, tests=(*where.tests, FieldTest("record", "none", names)))


def _name(match: WorkingMatch) -> str:
    session, record = match.session, match.record
    return record_name(
        record.get("namespace") or session.namespace, record.get("user_id") or session.user_id, record["id"]
    )


def matches_in_sessions(
    *, caller: Caller, text: str, where: EpisodeFilter, with_remembered: bool, now: datetime
) -> list[WorkingMatch]:
    """What holds every word of the text, however it is spelt in capitals, and what the filter admits; newest
    first. None for whoever is not shown conversations. `with_remembered`: also records that are remembered
    by now. Sessions that only Redis knows the turns of are left out while it is away."""
    if not caller.may_read_conversations:
        return []
    words = text.casefold().split()
    found = [
        one
        for session in _sessions(caller, confine(caller, where))
        for one in _of_session(caller, session, with_remembered, now)
        if _says(one, words) and _is_admitted(one, where)
    ]
    return sorted(found, key=lambda one: _held(one, "created_at") or now, reverse=True)


def _sessions(caller: Caller, where: EpisodeFilter) -> list[Session]:
    named = {
        "user_id": where.user_id,
        "namespace": where.namespace,
        "external_id": where.session_id,
        "agent_id": where.agent_id,
        "project": where.project,
    }
    condition = Q(**{name: value for name, value in named.items() if value is not None})
    for test in where.tests:
        if test.field in OF_SESSION and test.operator in LOOKUPS:
            met = Q(**{OF_SESSION[test.field] + LOOKUPS[test.operator]: test.value})
            condition &= ~met if test.operator in AGAINST else met
    with scope(caller.tenant_id):
        mine = Session.objects.filter(condition, tenant_id=caller.tenant_id)
        return list(mine.order_by("-last_activity_at", "-id")[:MOST_SESSIONS])


def _of_session(
    caller: Caller, session: Session, with_remembered: bool, now: datetime
) -> Iterator[WorkingMatch]:
    address = SessionAddress(session.external_id, session.user_id, session.namespace)
    try:
        found = read_workspace(caller=caller, address=address, now=now)
    except RedisAway:
        found = None
    if found is None:
        return
    for record in found.memories if with_remembered else waiting(found.memories):
        yield WorkingMatch(session, "memory", _of(session) | _given(record))
    for message in found.messages:
        yield WorkingMatch(session, "message", _of(session) | _record_of(found, message))


def _of(session: Session) -> dict[str, Any]:
    """Where a record stands that does not say it itself."""
    return {
        "session_id": session.external_id,
        "namespace": session.namespace or None,
        "user_id": session.user_id or None,
    }


def _given(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _record_of(found: Workspace, message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "text": f"{message.role}: {message.content}",
        "memory_type": "message",
        "created_at": message.created_at,
        "updated_at": message.created_at,
        "last_accessed": found.changed_at,
        "persisted_at": message.persisted_at,
    }


def _says(match: WorkingMatch, words: list[str]) -> bool:
    text = str(match.record.get("text", "")).casefold()
    return all(word in text for word in words)


def _is_admitted(match: WorkingMatch, where: EpisodeFilter) -> bool:
    if where.memory_types and match.record.get("memory_type") not in where.memory_types:
        return False
    if where.topics and not set(where.topics) & set(_held(match, "topics")):
        return False
    return all(_meets(_held(match, test.field), test) for test in where.tests)


def _held(match: WorkingMatch, field: str) -> Any:
    """What it holds there, as an episode would hold it."""
    value = match.record.get(field)
    if field in MOMENTS:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    if field in LISTS:
        return value or []
    return value or ("discrete" if field == "extraction_strategy" else "")


def _meets(held: Any, test: FieldTest) -> bool:
    """As `episodic.record_tests` says."""
    if test.operator == "ne":
        return not _meets(held, FieldTest(test.field, "eq", test.value))
    if test.operator == "none":
        return not _meets(held, FieldTest(test.field, "any", test.value))
    if test.field in MOMENTS:
        return held is not None and COMPARED[test.operator](held, test.value)
    if test.field in LISTS:
        return OF_LIST[test.operator](held, test.value)
    return OF_ONE[test.operator](held, test.value)


Met = Callable[[Any, Any], bool]
COMPARED: dict[str, Met] = {
    "eq": lambda held, value: held == value,
    "gt": lambda held, value: held > value,
    "lt": lambda held, value: held < value,
    "gte": lambda held, value: held >= value,
    "lte": lambda held, value: held <= value,
}
OF_ONE: dict[str, Met] = {
    "eq": lambda held, value: held == value,
    "any": lambda held, value: held in value,
    "all": lambda held, value: all(held == one for one in value),
    "startswith": lambda held, value: held.startswith(value),
}
OF_LIST: dict[str, Met] = {
    "eq": lambda held, value: value in held,
    "any": lambda held, value: bool(set(held) & set(value)),
    "all": lambda held, value: set(value) <= set(held),
    "startswith": lambda held, value: any(one.startswith(value) for one in held),
}
