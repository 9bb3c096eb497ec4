"""Saving an observation in three tiers: over its topic, onto its duplicate, or as a new one."""

from dataclasses import replace
from datetime import datetime

from observations.announcements import tell_observation
from observations.dedup import Identity, find_duplicate, find_topic, lock_identity, normalized_hash
from observations.indexing import index_observation
from observations.models import Observation
from observations.revising import keep_revision
from observations.trail import by_hand
from observations.types import NewObservation, Saved
from observations.validation import check
from tenants import idempotency
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import MemorySpan, memory_span, store_span
from tenants.tombstones import refuse_erased
from webhooks.models import Event
from working.models import Session
from working.sessions import find_session, open_session
from working.types import SessionAddress


def save_observation(*, caller: Caller, new: NewObservation, now: datetime) -> Saved:
    """Saves it atomically, however many write the same topic or content at once (AgentOps contract, §1.4).

    1. A live observation of the same topic key, project, scope and user says what the new one says. 2. One of
    the same project and user that says the same, made within `MEMORY_DEDUPE_WINDOW`, is counted as seen
    again; it takes the topic key if it has none. 3. A new one. The session is created if it is new, and whose
    memory it is comes from it. Raises InvalidObservation.
    """
    with memory_span("add_observation", session_id=new.session_id, type=new.type) as span:
        saved = _checked_and_saved(caller, new, now, span)
        span.set(action=saved.action, observation_id=saved.observation.id)
    return saved


def _checked_and_saved(caller: Caller, new: NewObservation, now: datetime, span: MemorySpan) -> Saved:
    new = replace(new, project=project_of(caller, new.project), scope=new.scope.strip() or "project")
    span.set(project=new.project)
    check(
        session_id=new.session_id, type=new.type, title=new.title, content=new.content, project=new.project,
        scope=new.scope, topic_key=new.topic_key, tags=new.tags,
    )  # fmt: skip
    session = _session_of(caller, new, now)
    with store_span("add_observation", project=new.project), scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=session.user_id, since=now)
        saved = _save(caller, new, session, now)
        by_hand(caller, "save", saved.observation, outcome=saved.action)
        idempotency.keep(saved, user_id=session.user_id)
    return saved


def _session_of(caller: Caller, new: NewObservation, now: datetime) -> Session:
    address = SessionAddress(new.session_id, new.user_id)
    found = find_session(caller=caller, address=address)
    if found is not None and found.project:  # one that was only told something, so far, has none
        return found
    # A key's own spelling of its project: by that it is compared with the session's.
    project = caller.project or new.project
    return open_session(caller=caller, address=address, now=now, project=project).session


def _save(caller: Caller, new: NewObservation, session: Session, now: datetime) -> Saved:
    same = Identity(
        tenant_id=caller.tenant_id,
        project=new.project,
        scope=new.scope,
        user_id=session.user_id,
        topic=new.topic_key.strip(),
        digest=normalized_hash(new.content),
    )
    lock_identity(same)
    if known := find_topic(same):
        return Saved("updated", _rewritten(caller, known, new, same.digest, now))
    if known := find_duplicate(same, now=now):
        return Saved("deduplicated", _seen_again(known, same, now))
    return Saved("created", _inserted(new, session, same, now))


def _inserted(new: NewObservation, session: Session, same: Identity, now: datetime) -> Observation:
    observation = Observation(
        tenant_id=same.tenant_id,
        user_id=same.user_id,
        agent_id=session.agent_id,
        project=same.project,
        session=new.session_id,
        scope=same.scope,
        type=new.type,
        title=new.title,
        content=new.content,
        tags=list(new.tags),
        topic_key=same.topic,
        normalized_hash=same.digest,
        created_at=now,
        updated_at=now,
    )
    observation.save(force_insert=True)
    index_observation(observation, now=now)
    tell_observation(observation, Event.CREATED)
    return observation


def _rewritten(
    caller: Caller, known: Observation, new: NewObservation, digest: str, now: datetime
) -> Observation:
    """The observation of the topic, saying what the new one says. Session and moment of creation stay."""
    keep_revision(known, caller=caller, now=now)
    said_else = (known.title, known.content) != (new.title, new.content)
    known.type, known.title, known.content = new.type, new.title, new.content
    known.tags, known.normalized_hash = list(new.tags), digest
    known.revision_count += 1
    known.last_seen_at = known.updated_at = now
    known.embed_pending = known.embed_pending or said_else
    known.save(
        update_fields=[
            "type", "title", "content", "tags", "normalized_hash", "revision_count", "last_seen_at",
            "updated_at", "embed_pending",
        ]
    )  # fmt: skip
    index_observation(known, now=now)
    tell_observation(known, Event.UPDATED)
    return known


def _seen_again(known: Observation, same: Identity, now: datetime) -> Observation:
    known.duplicate_count += 1
    known.last_seen_at = now
    fields = ["duplicate_count", "last_seen_at"]
    # In another scope the key would be another identity, whose lock this writer does not hold.
    takes_topic = bool(same.topic) and not known.topic_key and known.scope == same.scope
    if takes_topic:
        known.topic_key = same.topic
        fields.append("topic_key")
    known.save(update_fields=fields)
    if takes_topic:
        index_observation(known, now=now)
    return known
