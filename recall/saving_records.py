"""Saving long-term records that somebody sends: what they say is judged before any of them is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from episodic.records import prepare_records, write_records
from episodic.types import NewEpisode, NewRecord, SavedRecord
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.gate import Verdict, judge
from recall.holding import hold_episode
from screening.values import mask_value, told
from tenants import idempotency
from tenants.caller import Caller
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import Erased, last_erasures


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """A record as it may be saved, masked if the policy says so; `place`: where it stood in the call."""

    place: int
    record: NewRecord
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NotSaved:
    """A record of the call that is not stored, by its place, and the decision that says why."""

    place: int
    id: str | None
    decision: WriteDecision


@dataclass(frozen=True, slots=True)
class SentRecords:
    """What became of the records: saved, or held until somebody confirms them. If some are `refused`, that is
    all that happened."""

    saved: tuple[SavedRecord, ...] = ()
    held: tuple[NotSaved, ...] = ()
    refused: tuple[NotSaved, ...] = ()


def save_sent_records(
    *, caller: Caller, records: Sequence[NewRecord], deduplicate: bool, now: datetime
) -> SentRecords:
    """Saves them as `save_records` does, in one commit with the decisions about those that are held. If one
    may not be remembered, nothing is saved but the decisions that say so: whoever sent them mends it and
    sends all again. Raises what `save_records` raises."""
    mine = [replace(one, user_id=caller.confine_user(one.user_id)) for one in records]
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=caller.confine_agent(None))
    judged = [judge_record(one, place=place, policy=policy) for place, one in enumerate(mine)]
    refused = [one for one in judged if one.verdict.action == "refuse"]
    held = [one for one in judged if one.verdict.action == "hold"]
    kept = [] if refused else [one.record for one in judged if one.verdict.action in ("write", "redact")]
    given = prepare_records(caller=caller, records=kept, deduplicate=deduplicate, now=now)
    with scope(caller.tenant_id):
        _refuse_erased(caller, mine, now)
        if refused:
            done = SentRecords(refused=_noted(caller, refused, now))
        else:
            saved = write_records(caller=caller, given=given, deduplicate=deduplicate, now=now)
            done = SentRecords(saved=saved.records, held=_noted(caller, held, now))
        people = {one.user_id or "" for one in mine}
        idempotency.keep(done, user_id=people.pop() if len(people) == 1 else "")
    return done


def judge_record(record: NewRecord, *, place: int = 0, policy: Policy) -> JudgedRecord:
    """By everything that it says, not its text alone."""
    parts = (told(record.topics), told(record.entities), told(record.metadata))
    verdict = judge("\n".join((record.text, *filter(None, parts))), policy=policy)
    return JudgedRecord(place, _masked(record) if verdict.action == "redact" else record, verdict)


def note_record(
    *,
    caller: Caller,
    record: NewRecord,
    verdict: Verdict,
    session_id: str,
    agent_id: str,
    project: str,
    now: datetime,
) -> WriteDecision:
    """Notes in the open scope that a record was not saved; what somebody may still confirm is kept for that,
    as an episode: it has an id of its own then."""
    is_held = verdict.action == "hold"
    refused = Refused(
        kind="episode",
        reason=verdict.reason,
        text=record.text,
        findings=verdict.findings,
        held=hold_episode(_episode_of(record, agent_id, project)) if is_held else None,
        outcome="held" if is_held else "skipped",
    )
    return note_decision(
        caller=caller,
        session_id=session_id,
        user_id=record.user_id or "",
        agent_id=agent_id,
        project=project,
        refused=refused,
        now=now,
    )


def _masked(record: NewRecord) -> NewRecord:
    return replace(
        record,
        text=mask_value(record.text),
        topics=tuple(mask_value(record.topics)),
        entities=tuple(mask_value(record.entities)),
        metadata=mask_value(record.metadata),
    )


def _episode_of(record: NewRecord, agent_id: str, project: str) -> NewEpisode:
    return NewEpisode(
        text=record.text,
        user_id=record.user_id,
        agent_id=agent_id,
        project=project,
        session_id=record.session_id,
        namespace=record.namespace,
        memory_type=record.memory_type,
        topics=record.topics,
        entities=record.entities,
        event_date=record.event_date,
        metadata=record.metadata,
    )


def _noted(caller: Caller, judged: Sequence[JudgedRecord], now: datetime) -> tuple[NotSaved, ...]:
    agent_id, project = caller.confine_agent(None), caller.confine_project(None)
    return tuple(
        NotSaved(
            one.place,
            one.record.id,
            note_record(
                caller=caller,
                record=one.record,
                verdict=one.verdict,
                session_id=one.record.session_id,
                agent_id=agent_id,
                project=project,
                now=now,
            ),
        )
        for one in judged
    )


def _refuse_erased(caller: Caller, records: Sequence[NewRecord], now: datetime) -> None:
    """All people at once, before any of their memories is locked, as every writer locks them."""
    users = {one.user_id for one in records if one.user_id}
    erased = last_erasures(tenant_id=caller.tenant_id, user_ids=users) if users else {}
    if any(moment >= now for moment in erased.values()):
        raise Erased("This person's memory was erased meanwhile.")
