"""Remembering a turn: extracted and embedded outside of any scope, judged, and written in one commit."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ledger.injections import read_items
from recall.remember.extraction import clean_turn, extract_turn
from recall.remember.gating import Gated, gate
from recall.remember.types import Remembered, Skipped, Source, Written
from recall.remember.writing import Vectors, text_of_fact, write
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Invalid
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from working.models import Session
from working.redis import RedisAway
from working.sessions import find_session
from working.types import SessionAddress

__all__ = ["Prepared", "Remembered", "Skipped", "Source", "Written", "prepare", "remember", "write_prepared"]
NEWEST = 20  # turns of the user among which the one that is remembered is looked for

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn's candidates with all that it takes to write them."""

    gated: Gated
    policy: Policy
    told: Mapping[str, str]
    vectors: Vectors


def remember(
    *,
    caller: Caller,
    address: SessionAddress,
    user_message: str,
    assistant_message: str | None = None,
    agent_id: str | None = None,
    now: datetime,
) -> Remembered:
    """What becomes of a turn that somebody reports. The session need not exist; what is written names it,
    and the turn's number if the session has the turn.

    Raises Invalid without a user, Forbidden beyond the key's reach, Erased when the person is erased before
    the commit.
    """
    if not caller.confine_user(address.user_id):
        raise Invalid("Name the user whose words these are.", "user_id")
    source = _source(caller, address, user_message, agent_id)
    prepared = prepare(source=source, user_message=user_message, assistant_message=assistant_message, now=now)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=source.user_id, since=now)
        done = write_prepared(prepared=prepared, now=now)
        idempotency.keep(done, user_id=source.user_id)
    return done


def prepare(*, source: Source, user_message: str, assistant_message: str | None, now: datetime) -> Prepared:
    """Everything that needs no scope and must not hold one: model, embeddings, Redis."""
    policy = read_policy(tenant_id=source.caller.tenant_id, agent_id=source.agent_id)
    turn = clean_turn(user_message, assistant_message)
    extracted = extract_turn(turn, tenant_id=source.caller.tenant_id)
    gated = gate(source=source, turn=turn, extracted=extracted, policy=policy)
    if not gated.facts and gated.episode is None:
        return Prepared(gated, policy, {}, {})
    return Prepared(gated, policy, _told(source, now), _vectors(gated, policy))


def write_prepared(*, prepared: Prepared, now: datetime, said_at: datetime | None = None) -> Remembered:
    """Writes it in the open scope, which has asked already whether the person was erased. `said_at`: when the
    turn was recorded, if that was before now."""
    return write(
        gated=prepared.gated,
        policy=prepared.policy,
        told=prepared.told,
        vectors=prepared.vectors,
        said_at=said_at,
        now=now,
    )


def _source(caller: Caller, address: SessionAddress, user_message: str, agent_id: str | None) -> Source:
    user_id, agent = caller.confine_user(address.user_id), caller.confine_agent(agent_id)
    with scope(caller.tenant_id):
        session = find_session(caller=caller, address=address)
        turn = _turn_number(session, user_message) if session is not None else None
    if session is None:
        named = (address.session_id, address.namespace or "")
        return Source(caller, user_id, *named, agent, caller.project, exists=False)
    project = caller.confine_project(session.project)
    return Source(
        caller, user_id, session.external_id, session.namespace, agent or session.agent_id, project, turn
    )


def _turn_number(session: Session, user_message: str) -> int | None:
    """The number of the newest turn that says so. In the open scope."""
    said = session.logged_turns().filter(role="user")
    newest = said.order_by("-seq").values_list("seq", "content")[:NEWEST]
    return next((seq for seq, content in newest if content == user_message), None)


def _told(source: Source, now: datetime) -> Mapping[str, str]:
    """The session's ledger; with Redis away, none: what is told twice is found as a duplicate, mostly."""
    if not source.exists:
        return {}
    address = SessionAddress(source.session_id, source.user_id, source.namespace or None)
    try:
        return read_items(caller=source.caller, address=address, now=now)
    except RedisAway:
        log.warning("remember_without_ledger: Redis is away")
        return {}


def _vectors(gated: Gated, policy: Policy) -> Vectors:
    """The embeddings of what is probably written, in one batch."""
    least = policy.entities.min_confidence
    texts = [text_of_fact(one) for one in gated.facts if one.confidence >= least and one.how == "set"]
    texts += [gated.episode.text] if gated.episode is not None else []
    texts = [one for one in dict.fromkeys(texts) if one]
    vectors = try_embed(texts, tenant_id=gated.source.caller.tenant_id) if texts else None
    return {} if vectors is None else dict(zip(texts, vectors, strict=True))
