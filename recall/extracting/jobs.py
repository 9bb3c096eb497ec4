"""Extraction by a job, once a session has been quiet for a while.

What is found is written in the commit that ends the job, with the note how far the messages were looked at:
a worker that dies has done nothing, and what it was doing is done again. Whatever changed meanwhile counts:
what was left out or erased is not remembered, and what came is for the next job.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from episodic.record_replacing import Given
from episodic.records import NewRecord, prepare_records, write_records
from ledger.decisions import note_decision
from recall.extracting.config import Strategy, read_strategy
from recall.extracting.judging import Judged, judge_all
from recall.extracting.shown import MOST_MESSAGES, first_run
from recall.extracting.strategies import find, is_allowed
from recall.extracting.types import Candidate, Found, Material
from tenants.caller import Caller
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import system_caller
from working.events import Written
from working.extracted import (
    Said,
    Unextracted,
    lock_extraction,
    note_extracted,
    read_thread,
    read_unextracted,
    still_said,
)
from working.models import Session
from working.types import Message

EXTRACT = "session.extract"
MOST_OF_THREAD = 1_000  # turns that a summary tells of


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found, as it may be saved, each with its vector; and what may not be saved."""

    material: Material
    given: Sequence[tuple[Candidate, Given]]
    refused: Sequence[Judged]


def enqueue_extraction(*, written: Written, messages: Sequence[Message], now: datetime) -> None:
    """Has the messages looked through once the session has been quiet, in the open scope; each write has that
    wait anew. Nothing where memories are not extracted, or all messages were looked at. Without a log there
    is nothing to look through later."""
    is_on = settings.LONG_TERM_MEMORY and settings.ENABLE_DISCRETE_MEMORY_EXTRACTION
    if not is_on or written.held is not None or all(one.is_extracted for one in messages):
        return
    session = written.session
    if read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id).write.episodes != "off":
        _enqueue(session, now, quiet=_quiet())


def extract_kind() -> Kind:
    """The job that looks through what was said since the last one."""
    return Kind(EXTRACT, _apply, prepare=_prepare, slow=True)


def _enqueue(session: Session, now: datetime, *, quiet: timedelta) -> None:
    key = str(session.id)
    enqueue(EXTRACT, payload={"session": key}, now=now, user_id=session.user_id, dedup_key=key, quiet=quiet)


def _prepare(task: Task) -> Extracted | None:
    """Finds, judges and embeds, outside of any scope; None when there is nothing to look through."""
    material = _material(task)
    if material is None:
        return None
    found = find(material)
    judged = judge_all(found.candidates, material)
    kept = [one.candidate for one in judged if one.refused is None]
    given = prepare_records(
        caller=_writer(material.session),
        records=[_record(one, found, material) for one in kept],
        now=timezone.now(),
    )
    return Extracted(material, list(zip(kept, given, strict=True)), [one for one in judged if one.refused])


def _material(task: Task) -> Material | None:
    """None too where the policy wants no such memories."""
    session_id = UUID(task.payload["session"])
    with scope(task.tenant_id):
        found = read_unextracted(tenant_id=task.tenant_id, session_id=session_id, limit=MOST_MESSAGES + 1)
    if found is None or found.session.user_id != task.user_id or not found.messages:
        return None
    strategy = read_strategy(found.strategy)
    policy = read_policy(tenant_id=task.tenant_id, agent_id=found.session.agent_id)
    if not is_allowed(strategy, policy):
        return None
    upto, said = _span(found, strategy)
    return Material(
        task=task,
        session=found.session,
        policy=policy,
        strategy=strategy,
        after=found.after,
        upto=upto,
        messages=tuple(one for one in said if not one.is_marked),
        earlier=found.earlier,
        thread=_thread(found.session, upto) if strategy.name == "summary" else (),
    )


def _span(found: Unextracted, strategy: Strategy) -> tuple[int, Sequence[Said]]:
    """Up to where this run looks, and what it looks at; a summary is of all that was said until now."""
    if strategy.name == "summary":
        return max(found.session.last_seq, found.messages[-1].seq), found.messages
    run = first_run(found.messages)
    return run[-1].seq, run


def _thread(session: Session, upto: int) -> tuple[Said, ...]:
    with scope(session.tenant_id):
        return tuple(read_thread(session=session, upto=upto, limit=MOST_OF_THREAD))


def _apply(task: Task, extracted: Extracted | None) -> None:
    """In the scope that ends the job."""
    if extracted is None:
        return
    material, now = extracted.material, timezone.now()
    session = lock_extraction(tenant_id=task.tenant_id, session_id=material.session.id, after=material.after)
    if session is None:  # it is gone, or another job has looked at this, and asked for the next if need be
        return
    numbers = {number for one in _candidates(extracted) for number in one.sources}
    left = still_said(session=session, numbers=numbers)
    if material.strategy.name == "summary" and left < numbers:  # it tells of what was left out: once more
        _enqueue(session, now, quiet=_quiet())
        return
    _write(extracted, session, left, now)
    if note_extracted(session=session, upto=material.upto):
        _enqueue(session, now, quiet=timedelta(0))


def _write(extracted: Extracted, session: Session, left: Collection[int], now: datetime) -> None:
    """What turns say that are all left."""
    given = [one for candidate, one in extracted.given if set(candidate.sources) <= set(left)]
    if given:
        write_records(caller=_writer(session), given=given, deduplicate=True, now=now)
    for one in extracted.refused:
        if one.refused is not None and set(one.candidate.sources) <= set(left):
            note_decision(
                caller=system_caller(session.tenant_id),
                session_id=session.external_id,
                user_id=session.user_id,
                agent_id=session.agent_id,
                project=session.project,
                refused=one.refused,
                now=now,
            )


def _candidates(extracted: Extracted) -> list[Candidate]:
    return [*(one for one, _given in extracted.given), *(one.candidate for one in extracted.refused)]


def _quiet() -> timedelta:
    return timedelta(seconds=settings.EXTRACTION_DEBOUNCE_SECONDS)


def _writer(session: Session) -> Caller:
    """The server, for the agent and the project of the session, whose memories the records are to be."""
    return replace(system_caller(session.tenant_id), agent_id=session.agent_id, project=session.project)


def _record(one: Candidate, found: Found, material: Material) -> NewRecord:
    session, ids = material.session, _ids(material)
    return NewRecord(
        id=one.id,
        text=one.text,
        session_id=session.external_id,
        user_id=session.user_id or None,
        namespace=session.namespace,
        event_date=one.event_date,
        topics=one.topics,
        entities=one.entities,
        memory_type=one.memory_type,
        extracted_from=tuple(ids[number] for number in one.sources),
        extraction_strategy=material.strategy.name,
        extraction_config=dict(found.config),
        metadata={**found.metadata, **one.metadata},
    )


def _ids(material: Material) -> Mapping[int, str]:
    """By the numbers of the turns, what clients call them."""
    return {one.seq: one.id for one in (*material.messages, *material.thread)}
