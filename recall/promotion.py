"""Records that clients keep with a session become long-term records, by a job that their write records."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils import timezone

from episodic.records import save_records
from episodic.types import NewRecord
from recall.gate import Verdict
from recall.saving_records import judge_record, note_record
from tenants.caller import Caller
from tenants.errors import Conflict, DomainError, Invalid, Restricted, TooLarge
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from tenants.restrictions import refuse_restricted
from tenants.scope import restricted_shown, scope
from tenants.subjects import pseudonym
from tenants.system import system_caller
from tenants.tombstones import Erased, Standings, read_standings
from working.models import Session, SessionState
from working.pending import Record, waiting
from working.remembered import note_remembered, waiting_records

log = logging.getLogger(__name__)
PROMOTE = "session.promote"
HELD_UP = "A record that waits in this session is of a person whose memory is restricted."
# Why one is never to be saved as it is, by what saving it raises.
UNFIT: Mapping[type[DomainError], str] = {
    Conflict: "conflict",
    Invalid: "invalid",
    TooLarge: "limit",
    Erased: "erased",  # of which nothing is noted
}


class StillWaiting(Conflict):
    """Records came while the session was about to go."""

    def __init__(self) -> None:
        super().__init__("Records were added to the session meanwhile: try again.")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A record with what may be saved of it; None: nothing."""

    record: Record
    new: NewRecord | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Promoted:
    """The records that were looked at; what the session is to say of each by its id; and those that were not
    saved, as they were judged."""

    session: Session
    handled: Sequence[Record]
    marks: Mapping[str, Record]
    refused: Sequence[_Judged]


def enqueue_promotion(*, session: Session, records: Sequence[Record], now: datetime) -> None:
    """Has the records that wait remembered, in the open scope; nothing where there is no long-term memory."""
    if settings.LONG_TERM_MEMORY and waiting(records):
        key = str(session.id)
        enqueue(PROMOTE, payload={"session": key}, now=now, user_id=session.user_id, dedup_key=key)


def promote_waiting(*, session: Session) -> None:
    """Has the records that wait remembered at once, as the job does, since the session is to go. Raises
    Restricted when one is of somebody whose memory is: it could not wait for them any more."""
    with scope(session.tenant_id):
        records = _awaited(session)
    if not records:
        return
    promoted = _promoted(session, records, session.user_id)
    with scope(session.tenant_id):
        standings = _standings(session, records)
        if standings.restricted:
            raise Restricted(HELD_UP)
        _conclude(promoted, standings)


def check_none_waits(session: Session) -> None:
    """In the open scope, under the session's lock. Raises StillWaiting."""
    if _awaited(session):
        raise StillWaiting


def promote_kind() -> Kind:
    """The job that saves them, each as often as it says something new. Saved records are found again by their
    ids if a worker dies before the session says so. Those of somebody else than the session's user whose
    memory is restricted are left to a job of that person's, which waits until it is not."""
    return Kind(PROMOTE, _apply, prepare=_prepare, slow=True)


def _prepare(task: Task) -> Promoted | None:
    session, is_theirs = _session(task), task.payload.get("theirs", False)
    if session is None or not (is_theirs or session.user_id == task.user_id):
        return None
    with scope(task.tenant_id):
        records = waiting_records(tenant_id=task.tenant_id, session_id=session.id)
    if is_theirs:
        records = [one for one in records if _user_of(session, one) == task.user_id]
    return _promoted(session, records, task.user_id)


def _awaited(session: Session) -> Sequence[Record]:
    """The records that wait to be remembered, in the open scope."""
    if not settings.LONG_TERM_MEMORY:
        return ()
    return waiting_records(tenant_id=session.tenant_id, session_id=session.id)


def _promoted(session: Session, records: Sequence[Record], user_id: str) -> Promoted:
    """Saves the records. Raises Restricted for one of that user's."""
    with scope(session.tenant_id):
        strategy = _strategy(session)
    judged = [_judged(session, record, strategy) for record in records]
    refused = [one for one in judged if one.new is None]
    marks: dict[str, Record] = {}
    for some in _batches([one for one in judged if one.new is not None]):
        try:
            refused += _save(session, some)
            marks |= {one.record["id"]: _mark("persisted_at") for one in some}
        except Restricted:
            if _user_of(session, some[0].record) == user_id:
                raise  # then all of the job waits
    marks |= {one.record["id"]: _mark("refused_at") for one in refused}
    return Promoted(session, records, marks, refused)


def _apply(task: Task, promoted: Promoted | None) -> None:
    """In the scope that ends the job. What came meanwhile is for the next."""
    if promoted is None:
        return
    _conclude(promoted, _standings(promoted.session, promoted.handled))


def _conclude(promoted: Promoted, standings: Standings) -> None:
    """Has the session say what became of its records, in the open scope, but of those of restricted people.
    Of a person who was erased since a record came, nothing is noted of it."""
    now, session, restricted = timezone.now(), promoted.session, standings.restricted
    handled = [one for one in promoted.handled if _user_of(session, one) not in restricted]
    noted = note_remembered(session=session, handled=handled, marks=promoted.marks, now=now)
    for one in promoted.refused:
        if one.record["id"] in noted.ids and not _is_erased(session, one.record, standings):
            _note(session, one, now)
    free = [one for one in noted.left if _user_of(session, one) not in restricted]
    enqueue_promotion(session=session, records=free, now=now)
    _leave(session, {_user_of(session, one) for one in noted.left}.intersection(restricted), now)


def _session(task: Task) -> Session | None:
    """None: it is gone. Raises Restricted when its user is, whoever the job is of."""
    with restricted_shown(), scope(task.tenant_id):
        found = Session.objects.filter(tenant_id=task.tenant_id, id=task.payload["session"]).first()
    if found is not None:
        refuse_restricted(tenant_id=task.tenant_id, user_id=found.user_id)
    return found


def _user_of(session: Session, record: Record) -> str:
    """Whose memory the record is to be in."""
    return record.get("user_id") or session.user_id


def _standings(session: Session, records: Sequence[Record]) -> Standings:
    """Whose records have to wait, and who was erased, in the open scope, in which that stays so."""
    users = {_user_of(session, one) for one in records} - {""}
    if not users:
        return Standings({}, frozenset())
    return read_standings(tenant_id=session.tenant_id, user_ids=users)


def _is_erased(session: Session, record: Record, standings: Standings) -> bool:
    """Whether the record's person was erased since it came."""
    erased_at = standings.erased.get(_user_of(session, record))
    return erased_at is not None and erased_at >= datetime.fromisoformat(record["recorded_at"])


def _leave(session: Session, users: Collection[str], now: datetime) -> None:
    """Has the records of each of these people wait for a job of their own, in the open scope: what lifts the
    restriction lets it begin."""
    for user_id in users:
        whose = pseudonym(tenant_id=session.tenant_id, user_id=user_id)
        payload = {"session": str(session.id), "theirs": True}
        enqueue(PROMOTE, payload=payload, now=now, user_id=user_id, dedup_key=f"{session.id} {whose}")
        log.info("records_wait: session=%s person=%s is restricted", session.id, whose)


def _strategy(session: Session) -> Mapping[str, Any]:
    states = SessionState.objects.filter(tenant_id=session.tenant_id, session_id=session.id)
    return states.values_list("strategy", flat=True).first() or {}


def _judged(session: Session, record: Record, strategy: Mapping[str, Any]) -> _Judged:
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    judged = judge_record(_new(session, record, strategy), policy=policy)
    may_be_saved = judged.verdict.action in ("write", "redact")
    return _Judged(record, judged.record if may_be_saved else None, judged.verdict)


def _new(session: Session, record: Record, strategy: Mapping[str, Any]) -> NewRecord:
    return NewRecord(
        id=record["id"],
        text=record["text"],
        session_id=record.get("session_id") or session.external_id,
        user_id=_user_of(session, record) or None,
        namespace=record.get("namespace") or session.namespace,
        created_at=_moment(record.get("created_at")),
        event_date=_moment(record.get("event_date")),
        topics=tuple(record.get("topics") or ()),
        entities=tuple(record.get("entities") or ()),
        memory_type=record.get("memory_type") or "semantic",
        pinned=bool(record.get("pinned")),
        access_count=record.get("access_count") or 0,
        last_accessed=_moment(record.get("last_accessed")),
        extracted_from=tuple(record.get("extracted_from") or ()),
        extraction_strategy=strategy.get("strategy") or "discrete",
        extraction_config=dict(strategy.get("config") or {}),
        extracted="t",
        metadata=dict(record.get("metadata") or {}),
    )


def _batches(judged: Sequence[_Judged]) -> Iterator[list[_Judged]]:
    """What came at one moment for one person: whether the person was erased since is asked of that moment."""

    def origin(one: _Judged) -> tuple[str, str]:
        return one.record["recorded_at"], (one.new.user_id or "") if one.new else ""

    for _origin, some in groupby(sorted(judged, key=origin), key=origin):
        yield list(some)


def _save(session: Session, judged: Sequence[_Judged]) -> list[_Judged]:
    """Saves the records; those that cannot be, with the reason. If one of several cannot, each is saved by
    itself."""
    came_at = datetime.fromisoformat(judged[0].record["recorded_at"])
    records = [one.new for one in judged if one.new is not None]
    try:
        save_records(caller=_writer(session), records=records, deduplicate=True, now=came_at)
    except tuple(UNFIT) as error:
        if len(judged) > 1:
            return [unfit for one in judged for unfit in _save(session, [one])]
        reason = next(reason for kind, reason in UNFIT.items() if isinstance(error, kind))
        return [replace(judged[0], verdict=Verdict("refuse", records[0].text, reason=reason))]
    return []


def _mark(name: str) -> Record:
    return {name: timezone.now().isoformat()}


def _writer(session: Session) -> Caller:
    """The server, for the agent and the project of the session, whose memories the records are to be."""
    return replace(system_caller(session.tenant_id), agent_id=session.agent_id, project=session.project)


def _note(session: Session, one: _Judged, now: datetime) -> None:
    """That a record was not saved; what somebody may still confirm is kept for that."""
    note_record(
        caller=system_caller(session.tenant_id),
        record=_new(session, one.record, {}),
        verdict=one.verdict,
        session_id=session.external_id,
        agent_id=session.agent_id,
        project=session.project,
        now=now,
    )


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
