"""What an agent is told at each turn: the last sessions' summaries, and the observations that matter."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ledger.injections import Reason, mark_items, read_items
from observations.observations import list_observations
from observations.search import begin_search, finish_search
from observations.types import Method, ObservationFilter, SearchHit
from recall.context_block import render_block
from tenants.agents.projects import bound_project, project_of
from tenants.agents.reading import agent_of
from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.scope import scope
from tenants.telemetry import memory_span, store_span
from working.listing import newest_summaries
from working.models import Session
from working.redis import RedisAway
from working.sessions import find_session, open_session
from working.types import SessionAddress

log = logging.getLogger(__name__)

SESSIONS = 3  # summaries of the last ones
LIMIT = 5  # observations, if neither request nor agent says how many
LONGEST_QUERY, LONGEST_CONTENT = 500, 300  # characters
TRACED_METHODS = {"bm25": "fts5_bm25"}  # the contract's word in traces
FURTHER = 200  # observations, at most, looked at beyond the limit for those not told yet
TOLD = "observation:"  # before its number: its key in the ledger


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """What is asked. With a session, what it is told is entered in its ledger; `dedupe` leaves out what it
    has been told already, unless that says something else by now."""

    project: str | None
    text: str = ""
    scope: str | None = None
    limit: int | None = None
    session_id: str | None = None
    dedupe: bool = False


@dataclass(frozen=True, slots=True)
class ToldSession:
    """A session's summary."""

    session_id: str
    summary: str


@dataclass(frozen=True, slots=True)
class ToldObservation:
    """An observation, its content cut off at 300 characters; how it was found. The smaller the rank the
    better; 0 for one that is only recent."""

    id: int
    type: str
    title: str
    content: str
    rank: float
    method: Method


@dataclass(frozen=True, slots=True)
class Context:
    """What the agent is told, and the text that was searched for."""

    sessions: tuple[ToldSession, ...]
    observations: tuple[ToldObservation, ...]
    query_used: str

    def render(self) -> str:
        """The text for the prompt."""
        return render_block(
            summaries=[one.summary for one in self.sessions],
            items=[(one.type, one.title, one.content) for one in self.observations],
        )


def fetch_context(*, caller: Caller, query: ContextQuery, now: datetime) -> Context:
    """Observations that hold every word of the query, then those nearest to it in words and meaning, then the
    newest ones, until there are enough (AgentOps contract, §1.7)."""
    text = query.text[:LONGEST_QUERY]
    with memory_span("fetch_context", context_query=text, session_id=query.session_id) as span:
        project = project_of(caller, query.project)
        span.set(project=project, query_used=bool(text.strip()))
        context = _context(caller, query, project, text, now)
        span.set(context_results=len(context.observations))
        for one in context.observations:
            span.event(
                "context.injected", observation_id=one.id, type=one.type, title=one.title, rank=one.rank,
                method=TRACED_METHODS.get(one.method, one.method),
            )  # fmt: skip
    return context


def _context(caller: Caller, query: ContextQuery, project: str, text: str, now: datetime) -> Context:
    limit = _limit(caller, project, query.limit)
    if not project:
        return Context((), (), text)
    if query.session_id and not caller.may("write"):
        raise Forbidden("To enter what a session is told needs a key with scope write.")
    told = _told(caller, query, now) if query.dedupe else {}
    where = ObservationFilter(project=project, scope=query.scope)
    with store_span("fetch_context", project=project):
        further = limit + _further(told) if limit else 0
        with scope(caller.tenant_id):
            begun = begin_search(caller=caller, text=text, where=where, limit=further)
            newest = newest_summaries(caller=caller, project=project, limit=SESSIONS)
        hits = _fresh(_filled(caller, finish_search(begun), where, further), told)[:limit]
    sessions = [one for one in newest if told.get(_session_key(one)) != _session_state(one)]
    if query.session_id:
        marks = {_key(hit): _state(hit) for hit in hits}
        marks |= {_session_key(one): _session_state(one) for one in sessions}
        reasons = {_key(hit): Reason(place, None, hit.method) for place, hit in enumerate(hits, start=1)}
        _enter(caller, SessionAddress(query.session_id), project, marks, reasons, now)
    return Context(
        tuple(ToldSession(one.external_id, one.summary) for one in sessions), tuple(map(_item, hits)), text
    )


def _enter(
    caller: Caller,
    address: SessionAddress,
    project: str,
    marks: Mapping[str, str],
    reasons: Mapping[str, Reason],
    now: datetime,
) -> None:
    """Enters what is told in the session's ledger; the session is created in the project if it is new. With
    Redis away nothing is entered: the agent is told all the same, and may be told again."""
    try:
        if find_session(caller=caller, address=address) is None:
            open_session(caller=caller, address=address, now=now, project=caller.project or project)
        mark_items(caller=caller, address=address, items=marks, now=now, reasons=reasons)
    except RedisAway:
        log.warning("ledger_skipped: Redis is away")


def _limit(caller: Caller, project: str, asked: int | None) -> int:
    """How many observations: as asked, at most the limit of the key's agent; 0 when the agent is to get
    none."""
    agent = agent_of(caller=caller, project=project)
    if agent is None:
        return LIMIT if asked is None else asked
    most = agent.memory.context_limit
    is_own = bool(caller.agent_id) and bound_project(caller) == project
    return most if asked is None or most == 0 else min(asked, most) if is_own else asked


def _filled(caller: Caller, hits: list[SearchHit], where: ObservationFilter, limit: int) -> list[SearchHit]:
    """The hits, and the newest observations behind them up to the limit."""
    if len(hits) >= limit:
        return hits
    found = {hit.observation.id for hit in hits}
    newest = list_observations(caller=caller, where=where, limit=limit)
    recent = [SearchHit(one, 0.0, "recency") for one in newest if one.id not in found]
    return [*hits, *recent][:limit]


def _told(caller: Caller, query: ContextQuery, now: datetime) -> Mapping[str, str]:
    if not query.session_id:
        return {}
    try:
        return read_items(caller=caller, address=SessionAddress(query.session_id), now=now)
    except RedisAway:
        log.warning("ledger_skipped: Redis is away")
        return {}


def _further(told: Mapping[str, str]) -> int:
    """As many as may be in the way of those that have not been told."""
    return min(sum(key.startswith(TOLD) for key in told), FURTHER)


def _fresh(hits: list[SearchHit], told: Mapping[str, str]) -> list[SearchHit]:
    return [hit for hit in hits if told.get(_key(hit)) != _state(hit)]


def _key(hit: SearchHit) -> str:
    return f"{TOLD}{hit.observation.id}"


def _state(hit: SearchHit) -> str:
    """What it said when it was told, so that it is told again once it says something else."""
    one = hit.observation
    return hashlib.sha256(f"{one.type}\0{one.title}\0{one.content}".encode()).hexdigest()[:16]


def _session_key(session: Session) -> str:
    return f"session:{session.id}"


def _session_state(session: Session) -> str:
    return str(session.summarised_seq)


def _item(hit: SearchHit) -> ToldObservation:
    one = hit.observation
    content = one.content if len(one.content) <= LONGEST_CONTENT else one.content[:LONGEST_CONTENT] + "..."
    return ToldObservation(one.id, one.type, one.title, content, hit.rank, hit.method)
