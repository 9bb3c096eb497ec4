"""The Redis Agent Memory Server's routes: whole sessions of 10 and 100 messages, and a search of records."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.benchmarks import exact
from tests.benchmarks.floors import Call, clock, unique_id
from tests.benchmarks.load import Request
from tests.benchmarks.seed import Member, real_texts
from tests.benchmarks.stage import Stage

Parts = tuple[Callable[[Stage], list[Request]], Callable[[Stage], Call], Callable[[Stage], list[Request]]]
SESSIONS = 64
RECORDS, AT_ONCE = 1_000, 200
SAID = "Could you check why my last order has not arrived yet? It should have been here on Tuesday."
QUESTIONS = (
    "what did the customer say about the invoice",
    "why was the delivery late again",
    "which address should the replacement go to",
    "how did we solve the login problem",
)


def get_parts(count: int) -> Parts:
    """A session of so many messages, read."""
    return partial(_gets, count), partial(_get_floor, count), partial(_begin, count)


def put_parts(count: int) -> Parts:
    """A session of so many messages, sent again with another last one."""
    return partial(_puts, count), partial(_put_floor, count), partial(_begin, count)


def _members(stage: Stage) -> list[tuple[int, Member]]:
    return [(number, stage.members[number % len(stage.members)]) for number in range(SESSIONS)]


def _path(count: int, number: int) -> str:
    return f"/v1/working-memory/whole-{count}-{number}"


def _body(count: int, last: str) -> dict[str, object]:
    ids = [*(f"m{number}" for number in range(count - 1)), last]
    messages = [
        {"id": one, "role": ("user", "assistant")[place % 2], "content": SAID,
         "created_at": "2026-01-01T00:00:00Z"}
        for place, one in enumerate(ids)
    ]  # fmt: skip
    return {"messages": messages, "data": {"step": 1}}


def _begin(count: int, stage: Stage) -> list[Request]:
    return [
        Request("PUT", _path(count, number), member.key, _body(count, "m-last"))
        for number, member in _members(stage)
    ]


def _gets(count: int, stage: Stage) -> list[Request]:
    return [Request("GET", _path(count, number), member.key) for number, member in _members(stage)]


def _puts(count: int, stage: Stage) -> list[Request]:
    return [
        Request("PUT", _path(count, number), member.key, _body(count, "@@"))
        for number, member in _members(stage)
    ]


def _get_floor(count: int, stage: Stage) -> Call:
    from tenants.api_keys import authenticate
    from working.types import SessionAddress
    from working.workspace import read_workspace

    callers = [(authenticate(member.key), number) for number, member in _members(stage)]

    def call(number: int) -> object:
        caller, which = callers[number % SESSIONS]
        address = SessionAddress(_path(count, which).rpartition("/")[2])
        return read_workspace(caller=caller, address=address, now=clock())

    return call


def _put_floor(count: int, stage: Stage) -> Call:
    """What is stored, and nothing that follows from it."""
    from tenants.api_keys import authenticate
    from working.types import GivenWorkspace, NewMessage, SessionAddress
    from working.workspace_writing import put_workspace

    callers = [(authenticate(member.key), number) for number, member in _members(stage)]
    said = tuple(NewMessage("user", SAID, clock(), id=f"m{number}") for number in range(count - 1))

    def call(number: int) -> object:
        caller, which = callers[number % SESSIONS]
        now = clock()
        last = NewMessage("user", SAID, now, id=unique_id())
        return put_workspace(
            caller=caller,
            address=SessionAddress(f"floor-{count}-{which}"),
            given=GivenWorkspace(messages=(*said, last), data={"step": 1}),
            now=now,
            also=lambda _written, _workspace: None,
        )

    return call


def search_prepare(stage: Stage) -> list[Request]:
    """1,000 records of one user."""
    texts = real_texts()
    records: list[dict[str, Any]] = [
        {"id": f"record-{number}", "text": f"{texts[number % len(texts)]} ({number})", "user_id": "ana"}
        for number in range(RECORDS)
    ]
    bodies = [records[begin : begin + AT_ONCE] for begin in range(0, RECORDS, AT_ONCE)]
    key = stage.members[0].key
    return [
        Request("POST", "/v1/long-term-memory/", key, {"memories": one, "deduplicate": False})
        for one in bodies
    ]


def search_requests(stage: Stage) -> list[Request]:
    return [
        Request(
            "POST", "/v1/long-term-memory/search", stage.members[0].key,
            {"text": QUESTIONS[number % len(QUESTIONS)], "user_id": {"eq": "ana"}, "limit": 10},
        )
        for number in range(200)
    ]  # fmt: skip


def search_floor(stage: Stage) -> Call:
    """The embedding of the query and one exact search."""
    from episodic.types import EpisodeFilter
    from providers.embeddings import get_embedder

    tenant_id = stage.members[0].tenant_id

    def call(number: int) -> object:
        embedder = get_embedder()
        vector = embedder.embed([QUESTIONS[number % len(QUESTIONS)]])[0]
        where = EpisodeFilter(user_id="ana")
        return exact.search(tenant_id=tenant_id, model=embedder.model, vector=vector, where=where, limit=10)

    return call


def key_lookup(stage: Stage) -> Call:
    """A key that the process does not know: its record is read anew each time. To stay below 1 ms."""
    from django.conf import settings

    from tenants import api_keys, lookups

    settings.API_KEY_CACHE_SECONDS = 0
    api_keys._cache = lookups.LookupCache()  # without what was known before
    keys = [member.key for member in stage.members]
    return lambda number: api_keys.authenticate(keys[number % len(keys)])
