"""Asks the server for everything that tells why a fact is not known. Nothing is written."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...answer import Answer as Model
from ...calls import Operation
from ...client import StrataClient
from ...errors import BadRequest, Forbidden, Invalid, NotFound, Refused, ServerError
from ...operations import (
    audit,
    documents,
    entities,
    episodes,
    injections,
    observations,
    sessions,
    subjects,
    webhooks,
)
from ...operations import decisions as writes
from ...operations import policy as policies
from ...operations.memory import RECALL, REMEMBER
from ..asking import Answer, every, get, knock, post
from ..moments import parsed
from ..sessions import said
from .evidence import Decision, Evidence, Memory, Question, Search, Talk
from .words import HALF, MASK, Likeness, of_masked, of_slot, of_text

EPISODES = 2_000  # that are looked through, the newest
OTHERS = 500  # of slots, observations and decisions likewise
DEEP = 200  # results of recall, at most
LIKE = 0.6  # cosine from which a memory is like the fact
SHOWN = 5

GONE = ("superseded", "retracted")


class Ready(Model):
    """What is away, if anything is; the API's description does not tell of it."""

    status: str
    checks: dict[str, str]


READY: Operation[Ready] = Operation("GET", "/ready", answer=Ready)


def ready(client: StrataClient) -> Evidence:
    """Whether the server can serve. Raises a StrataError when nothing answers."""
    try:
        told = get(client, READY)
    except ServerError as error:
        return Evidence({"ready": error.detail}, "unavailable")
    return Evidence(told["checks"], told["status"])


def scopes(client: StrataClient) -> tuple[str, ...]:
    """What the key may, found out by asking for it: a refusal of an empty request comes after that of a
    missing scope. Raises Unauthenticated for a key that is none."""
    asks: dict[str, Callable[[], object]] = {
        "read": lambda: get(client, episodes.LIST, limit=1),
        "write": lambda: knock(client, REMEMBER),
        "ingest": lambda: knock(client, documents.CREATE),
        "privacy": lambda: get(client, audit.LIST, limit=1),
        "admin": lambda: get(client, webhooks.LIST, limit=1),
    }
    return tuple(scope for scope, ask in asks.items() if _may(ask))


def _may(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except Forbidden:
        return False
    except (BadRequest, Invalid):
        return True
    return True


def person(client: StrataClient, user_id: str) -> tuple[bool | None, str | None]:
    """Whether the person is restricted, and when they were erased last; None for what the key may not see."""
    try:
        restricted = get(client, subjects.RESTRICTION, user_id)["restricted"]
        receipts = get(client, subjects.RECEIPTS, user_id, limit=1)["results"]
    except Forbidden:
        return None, None
    return bool(restricted), receipts[0]["erased_at"] if receipts else None


def policy(client: StrataClient, question: Question) -> dict[str, Any] | None:
    """What holds for the agent, or the tenant."""
    try:
        told = get(client, policies.GET, agent_id=question.agent_id)
    except Refused:
        return None
    effective: dict[str, Any] = told["effective"]
    return effective


def memories(client: StrataClient, question: Question) -> tuple[tuple[Memory, ...], int]:
    """Those whose words say the fact, then those that are like it, what holds before what does not; and how
    many were looked through."""
    found, number = [], 0
    for memory, is_near in _memories(client, question):
        number += 1
        found += [memory] if is_near else []
    return best_first(found), number


def best_first(found: Iterable[Memory]) -> tuple[Memory, ...]:
    """What says the fact first; of alike ones what holds, then what has more of its words or meaning."""
    return tuple(sorted(found, key=lambda one: (not one.says, one.state != "holds", -one.share)))


def _memories(client: StrataClient, question: Question) -> Iterator[tuple[Memory, bool]]:
    """Each, and whether it is like the fact."""
    user = question.user_id
    for one in every(client, episodes.LIST, most=EPISODES, user_id=user, history="true"):
        yield _episode(one, question)
    for status in ("current", "pending", *GONE):
        for one in every(client, entities.LIST, most=OTHERS, user_id=user, status=status):
            yield _slot(one, question)
    for state in ("live", "trash"):
        for one in every(client, observations.LIST, most=OTHERS, user_id=user, state=state):
            yield _observation(one, question)


def _text(question: Question, text: str) -> Likeness:
    return of_text(question.fact, text, person=question.user_id)


def _episode(one: Answer, question: Question) -> tuple[Memory, bool]:
    begins = parsed(one["valid_from"])
    state, ended = "holds", one["valid_to"]
    if ended:
        state = "superseded" if one["superseded_by"] else "retracted"
    elif begins is not None and begins > question.now:
        state, ended = "not yet", one["valid_from"]
    like = _text(question, one["text"])
    return Memory(
        "episode", one["id"], one["text"], like.share, state, one["agent_id"], one["embedded"], ended,
        says=like.says,
    ), like.is_near  # fmt: skip


def _slot(one: Answer, question: Question) -> tuple[Memory, bool]:
    key, value = one["key"], str(one["value"])
    like = of_slot(question.fact, key=key, value=value, person=question.user_id)
    state = "holds" if one["status"] == "current" else one["status"]
    return Memory(
        "entity", one["id"], f"{key}: {value}", like.share, state, one["agent_id"], one["embedded"],
        one["valid_to"], key=key, says=like.says,
    ), like.is_near  # fmt: skip


def _observation(one: Answer, question: Question) -> tuple[Memory, bool]:
    like = _text(question, f"{one['title']}\n{one['content']}")
    state = "trashed" if one["deleted_at"] else "holds"
    return Memory(
        "observation", str(one["id"]), f"{one['title']}: {one['content']}", like.share, state,
        one["agent_id"], one["embedded"], one["deleted_at"], says=like.says,
    ), like.is_near  # fmt: skip


def decisions(client: StrataClient, question: Question) -> tuple[Decision, ...]:
    """Writes that were not carried out and say the fact, whatever of it is masked, or are like it: half its
    words do."""
    listed = every(client, writes.LIST, most=OTHERS, user_id=question.user_id)
    found = []
    for one in listed:
        like = _likeness(question, one)
        if one["outcome"] != "confirmed" and (like.is_near or like.share >= HALF):
            found.append(
                Decision(
                    one["id"], one["outcome"], one["reason"], one["text"], like.share, one["confirmable"],
                    one["created_at"], says=like.says,
                )
            )  # fmt: skip
    return tuple(sorted(found, key=lambda one: (not one.says, -one.share)))


def _likeness(question: Question, decision: Answer) -> Likeness:
    key, text = decision["key"] or "", decision["text"] or ""
    if MASK.search(text):
        told = f"Her {text}" if key else text  # a slot without its value is a sentence about the person
        return of_masked(question.fact, told, person=question.user_id)
    if not key:
        return _text(question, text)
    return of_slot(question.fact, key=key, value=text.removeprefix(f"{key}: "), person=question.user_id)


def with_meant(client: StrataClient, question: Question, found: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The same with what is like the fact in meaning and not among them."""
    known = {one.id for one in found}
    return best_first([*found, *(one for one in _meant(client, question) if one.id not in known)])


def _meant(client: StrataClient, question: Question) -> tuple[Memory, ...]:
    """The episodes that are like the fact in meaning, whichever agent they belong to. A cosine does not see
    what is denied."""
    answer = _recall(client, question, query=question.fact, kind="episode", agent_id=None, top_k=SHOWN)
    return tuple(
        Memory(
            "episode", one["id"], one["text"], cosine, "holds", one["agent_id"], by_meaning=True, says=False
        )
        for one in answer["results"]
        if (cosine := one["signals"].get("cosine") or 0) >= LIKE
    )


def search(client: StrataClient, question: Question, memory: Memory | None) -> Search:
    """What recall answers to the agent's question: as many as usual, and as many as it can where the memory
    is not among those."""
    kind = "episode" if memory is None else memory.kind
    agent = None if kind == "entity" else question.agent_id  # slots belong to a user
    answer = _recall(client, question, query=question.query, kind=kind, agent_id=agent, top_k=None)
    usual, rank = len(answer["results"]), _rank(answer, memory)
    is_told = rank is not None
    if memory is not None and not is_told:
        answer = _recall(client, question, query=question.query, kind=kind, agent_id=agent, top_k=DEEP)
        rank = _rank(answer, memory)
    hits = tuple(answer["results"])
    hit = hits[rank - 1] if rank else None
    return Search(rank, is_told, usual, len(hits), hit, hits[:SHOWN], tuple(answer["stages"]))


def _recall(
    client: StrataClient,
    question: Question,
    *,
    query: str,
    kind: str,
    agent_id: str | None,
    top_k: int | None,
) -> Answer:
    asked = {
        "query": query,
        "user_id": question.user_id,
        "agent_id": agent_id,
        "kinds": [kind],
        "top_k": top_k,
        "explain": True,
        "count_access": False,
    }
    return post(client, RECALL, asked)


def _rank(answer: Answer, memory: Memory | None) -> int | None:
    ids = [str(one["id"]) for one in answer["results"]]
    return ids.index(memory.id) + 1 if memory is not None and memory.id in ids else None


def talk(client: StrataClient, question: Question, session_id: str, memory: Memory | None) -> Talk:
    """What the session says of it."""
    asked: dict[str, Any] = {"user_id": question.user_id}
    try:
        session = get(client, sessions.GET, session_id, **asked)
    except NotFound:
        return Talk(is_there=False)
    first: int | None = None
    said_at: list[int] = []
    for one in every(client, sessions.EVENTS, session_id, **asked):
        first = one["seq"] if first is None else first
        said_at += [one["seq"]] if _text(question, said(one)).says else []
    window = get(client, sessions.WINDOW, session_id, **asked)["messages"]
    last = parsed(session["last_activity_at"])
    return Talk(
        is_there=True,
        idle_seconds=(question.now - last).total_seconds() if last else 0.0,
        ended_at=session["ended_at"],
        first=first,
        said_at=tuple(said_at),
        is_in_window=any(_text(question, said(one)).says for one in window),
        told_at=_told_at(client, question, session_id, memory),
    )


def _told_at(client: StrataClient, question: Question, session_id: str, memory: Memory | None) -> str | None:
    if memory is None:
        return None
    asked: dict[str, Any] = {"user_id": question.user_id, "session_id": session_id}
    for one in every(client, injections.LIST, most=OTHERS, **asked):
        if memory.id in one["item_key"] and not one["released_at"]:
            told: str = one["marked_at"]
            return told
    return None
