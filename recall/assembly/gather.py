"""What the stores know that could go into an assembly. Redis and the model may be away: then less is known,
and the stages say so."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings

from episodic.entity_reading import current_slots
from episodic.episodes import list_episodes
from episodic.models import Episode
from episodic.record_tests import FieldTest
from episodic.slot_choice import MOST_SLOTS, choose_slots
from episodic.types import EpisodeFilter
from knowledge.models import Procedure
from knowledge.procedures import access_procedure, procedures_for
from ledger.injections import read_items
from recall.assembly import pieces
from recall.assembly.render import mark_system
from recall.assembly.types import AssembleQuery, Piece
from recall.masking import mask_turn
from recall.recall import Embedding, recall
from recall.stages import Stage, milliseconds, timed
from recall.trials import Variant
from recall.types import RecallQuery
from recall.vague import expand, is_vague
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile
from tenants.errors import NotFound, Overdue, Unavailable
from tenants.policy.reading import read_policy
from tenants.scope import each_statement_within, scope
from working.memory import read_fields
from working.models import Session
from working.redis import RedisAway
from working.sessions import find_session, ref_of
from working.turns import read_window
from working.types import SessionAddress, Turn

log = logging.getLogger(__name__)
MOST_TOLD = 100  # episodes, at most, looked at beyond the wanted ones for those that were not told yet


@dataclass(slots=True)
class Gathered:
    """What is known. `top_k` of the episodes are wanted, best first; the others are there to take the place
    of those that are left out. `further_slots` hold beside those that are told at once. `shown`: numbers of
    the first turn, 0 if none was before it, and the last one that the messages hold. `variant`: the setting
    of a trial that recalled the episodes."""

    session: Session | None
    address: SessionAddress
    user_id: str
    agent_id: str
    query_used: str
    top_k: int
    procedures: list[Piece] = field(default_factory=list)
    data: list[Piece] = field(default_factory=list)
    slots: list[Piece] = field(default_factory=list)
    further_slots: int = 0
    episodes: list[Piece] = field(default_factory=list)
    summary: list[Piece] = field(default_factory=list)
    summary_due: bool = False
    turns: list[Turn] = field(default_factory=list)
    shown: tuple[int, int] | None = None
    unpaired: list[Turn] = field(default_factory=list)
    told: Mapping[str, str] = field(default_factory=dict)
    redis_away: bool = False
    variant: Variant = ""
    stages: list[Stage] = field(default_factory=list)


def gather(*, caller: Caller, query: AssembleQuery, now: datetime) -> Gathered:
    """Everything that the request includes. The embedding of the query is made while the stores are asked,
    unless they have to say first what a vague query is about.

    PostgreSQL has `RECALL_STAGE_SECONDS` for each query. Raises NotFound for a procedure that is named and
    not deployed.
    """
    with each_statement_within(settings.RECALL_STAGE_SECONDS):
        return _gathered(caller, query, now)


def _gathered(caller: Caller, query: AssembleQuery, now: datetime) -> Gathered:
    wanted, embedding = "episodes" in query.include, None
    if wanted and not is_vague(query.text):
        embedding = embed_meanwhile(query.text, tenant_id=caller.tenant_id)
    found = _from_postgres(caller, query)
    if found.session is not None:
        _add_window(caller, query, found, now)
        _add_from_redis(caller, query, found, now)
    too_many = len(found.slots) > MOST_SLOTS
    if embedding is None and (wanted or too_many):
        if is_vague(query.text):
            found.query_used = expand(query.text, found.turns)
        embedding = embed_meanwhile(found.query_used, tenant_id=caller.tenant_id)
    if too_many:
        _choose_slots(caller, found, embedding)
    if embedding is not None and wanted:
        told = sum(key.startswith(pieces.EPISODE) for key in found.told) if query.dedupe else 0
        _add_episodes(caller, found, embedding, told, now)
    return found


def _from_postgres(caller: Caller, query: AssembleQuery) -> Gathered:
    """The session, its user's slots and procedures, in one scope; if the slots do not come in time in another
    one, without them."""
    slots: list[Stage] = []
    try:
        found = _known(caller, query, slots)
    except Overdue:
        if not slots:
            raise
        found = _known(caller, replace(query, include=query.include - {"entities"}), slots)
        found.stages += slots
    found.top_k = read_policy(tenant_id=caller.tenant_id, agent_id=found.agent_id).recall.top_k
    return found


def _known(caller: Caller, query: AssembleQuery, asked: list[Stage]) -> Gathered:
    """`asked` gets the stage of the slots."""
    stages: list[Stage] = []
    named_user, named_agent = caller.confine_user(query.address.user_id), caller.confine_agent(query.agent_id)
    with timed("session", stages), scope(caller.tenant_id):
        session = find_session(caller=caller, address=query.address)
        found = Gathered(
            session=session,
            address=query.address if session is None else _address_of(session),
            user_id=session.user_id if session else named_user,
            agent_id=named_agent or (session.agent_id if session else ""),
            query_used=query.text,
            top_k=0,
            stages=stages,
        )
        if "procedures" in query.include:
            found.procedures = _procedures(caller, query, found.agent_id)
        if "entities" in query.include and found.user_id:
            with timed("entities", asked):
                slots = current_slots(caller=caller, user_id=found.user_id, limit=MOST_SLOTS + 1)
            found.slots = pieces.of_slots(slots)
    if session is not None and "session" in query.include:
        found.data = pieces.of_fields(session.metadata, "metadata")
    return found


def _procedures(caller: Caller, query: AssembleQuery, agent_id: str) -> list[Piece]:
    """Those that are meant for the agent, and those that the request names."""
    meant = procedures_for(caller=caller, agent_id=agent_id, environment=query.environment)
    known = {one.name for one in meant}
    named = [_named(caller, query, name) for name in dict.fromkeys(query.procedures) if name not in known]
    return [*pieces.of_procedures(meant, "agent"), *pieces.of_procedures(named, "named")]


def _named(caller: Caller, query: AssembleQuery, name: str) -> Procedure:
    try:
        return access_procedure(caller=caller, name=name, environment=query.environment)
    except NotFound as error:
        raise NotFound(f"There is no such procedure: {name}.") from error


def _add_window(caller: Caller, query: AssembleQuery, found: Gathered, now: datetime) -> None:
    """The turns before the query, without what is sensitive in them, and the summary of those before them."""
    if not query.include & {"window", "summary"} and not is_vague(query.text):
        return
    with timed("window", found.stages):
        window = read_window(caller=caller, address=found.address, now=now)
    turns = list(window.window.turns)
    if turns and "window" in query.include:
        found.shown = (turns[0].seq if window.window.truncated else 0, turns[-1].seq)
    found.unpaired = list(window.window.unpaired) if "window" in query.include else []
    if turns and turns[-1].role == "user" and turns[-1].content == query.text:
        turns.pop()  # the query is the last message anyway
    found.turns = [mark_system(mask_turn(turn)) for turn in turns]
    if "summary" in query.include and found.session is not None:
        found.summary = pieces.of_summary(window.summary, upto=found.session.summarised_seq)
        found.summary_due = window.include_summary or "window" not in query.include


def _add_from_redis(caller: Caller, query: AssembleQuery, found: Gathered, now: datetime) -> None:
    try:
        with timed("ledger", found.stages):
            found.told = read_items(caller=caller, address=found.address, now=now)
        if "session" in query.include:
            with timed("scratchpad", found.stages):
                memory = read_fields(caller=caller, address=found.address, now=now)
            if memory:
                found.data = [*pieces.of_fields(memory.data, "scratchpad"), *found.data]
    except RedisAway:
        log.warning("assembly_without_redis: what the session was told is not known")
        found.redis_away = True


def _choose_slots(caller: Caller, found: Gathered, embedding: Embedding | None) -> None:
    """Of more slots than are told at once, those that are; the first, if the choice takes too long."""
    try:
        with timed("entities", found.stages):
            chosen = choose_slots(
                caller=caller, user_id=found.user_id, query=found.query_used, embedding=embedding
            )
    except Overdue:
        found.further_slots = len(found.slots) - MOST_SLOTS  # and maybe more
        del found.slots[MOST_SLOTS:]
        return
    found.slots, found.further_slots = pieces.of_slots(chosen.slots), chosen.left_out


def _add_episodes(caller: Caller, found: Gathered, embedding: Embedding, told: int, now: datetime) -> None:
    """The user's episodes; without a user, those of the agent that are nobody's. With the model away, those
    that words alone find, else the newest. `told` of them may be in the way of those that have not been
    told."""
    if not found.user_id and not found.agent_id:
        found.stages.append(Stage("vector", 0.0, "skipped"))
        return
    where = EpisodeFilter(user_id=found.user_id) if found.user_id else _nobodys(found.agent_id)
    limit = 2 * found.top_k + min(told, MOST_TOLD)
    query = RecallQuery(text=found.query_used, where=where, top_k=limit, session=found.address.session_id)
    scored: list[tuple[Episode, float | None]] = []
    began = time.perf_counter()
    try:
        recalled = recall(caller=caller, query=query, embedding=embedding, now=now, counted=False)
    except Unavailable as error:
        name = "recall" if isinstance(error, Overdue) else "embed"
        stages: tuple[Stage, ...] = (Stage(name, milliseconds(began), "failed"),)
    else:
        stages = recalled.stages
        scored += [(hit.episode, hit.score) for hit in recalled.hits]
        found.variant = recalled.variant
    found.stages += stages
    if not scored and any(stage.status == "failed" for stage in stages):
        with timed("recent", found.stages):
            newest = list_episodes(caller=caller, where=where, limit=limit)
        scored = [(one, None) for one in newest]
    found.episodes = [pieces.of_episode(one, score, found.session) for one, score in scored]


def _nobodys(agent_id: str) -> EpisodeFilter:
    """The agent's own: what belongs to no user."""
    return EpisodeFilter(agent_id=agent_id, tests=(FieldTest("user_id", "eq", ""),))


def _address_of(session: Session) -> SessionAddress:
    ref = ref_of(session)
    return SessionAddress(ref.session_id, ref.user_id, ref.namespace)
