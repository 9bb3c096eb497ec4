"""What was said in sessions on its way into their logs here."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from memoryproject.importing.batches import write_batch
from memoryproject.importing.fields import derived_id
from memoryproject.importing.rows import Kind, Log, LogEvent
from memoryproject.importing.run import Run
from memoryproject.importing.screening import screen_beside, screen_event
from recall.turns import append_turns
from recall.working_memory import WindowSize, put_working_memory
from tenants.scope import scope
from tenants.tombstones import Standings
from working.models import Event, Session, SessionState
from working.sessions import open_session
from working.types import GivenWorkspace, SessionAddress
from working.unlogged import keeps_log

KIND: Kind = "events"
NO_LOG = "the policy keeps no log of events"


def write_log(run: Run, log: Log) -> None:
    """Adds, in one commit, the events that the session here has not, and before its first ones what else it
    holds. A session that goes on here keeps what it has."""
    now, user_id = run.clock(), run.whose(log.user_id)
    if user_id is None:
        for one in log.events:
            run.report.leave(KIND, "passed_by", "another person's", place=one.place)
        return
    mine = _named(run, replace(log, user_id=user_id, agent_id=log.agent_id or run.agent_id))
    standings = run.standings({user_id})
    admitted = _screened(run, mine, standings, now)
    session, known = _here(run, mine, [one.event.external_id or "" for one in admitted])
    fresh = [one for one in admitted if one.event.external_id not in known]
    run.report.count(KIND, "unchanged", len(admitted) - len(fresh))
    # No date tells whether it is from before an erasure.
    is_bare = not (log.data or log.context)
    if not is_bare and not run.is_barred("sessions", user_id, standings, since=None, place=log.place):
        put = partial(_put_state, run, session, now)
        write_batch(run, [mine], put, tell=lambda one: ("sessions", one.place))
    write_batch(run, fresh, partial(_append, run, mine, now), tell=lambda one: (KIND, one.place))


def _named(run: Run, log: Log) -> Log:
    """Each event with an id: one that has none gets the same whenever it is told, of what was said when, and
    of how often that came before in its session."""
    events = []
    for one in log.events:
        event = one.event
        if not event.external_id:
            moment = event.created_at if one.is_dated else None
            said = derived_id("import", log.session_id, moment, event.event_type, event.role, event.content)
            before = run.seen.times("said", log.user_id or "", log.namespace, said)
            event = replace(event, external_id=f"{said}:{before}" if before else said)
        events.append(replace(one, event=event))
    return replace(log, events=tuple(events))


def _append(run: Run, log: Log, now: datetime, events: Sequence[LogEvent]) -> None:
    if not run.is_dry:
        said, agent_id = [one.event for one in events], log.agent_id
        append_turns(caller=run.caller, address=_address(log), events=said, now=now, agent_id=agent_id)
    run.report.count(KIND, "written", len(events))


def _address(log: Log) -> SessionAddress:
    """The session of that identity, and no other of the id: what is here already is compared with that."""
    return SessionAddress(log.session_id, log.user_id, log.namespace, is_exact=True)


def _screened(run: Run, log: Log, standings: Standings, now: datetime) -> list[LogEvent]:
    policy = run.policy(log.agent_id)
    is_kept = keeps_log(tenant_id=run.caller.tenant_id, agent_id=log.agent_id)
    admitted = []
    for one in log.events:
        event, place = one.event, one.place
        since = event.created_at if one.is_dated else None
        told = (log.user_id or "", log.namespace, log.session_id, event.external_id or "")
        if not is_kept:
            run.report.leave(KIND, "refused", NO_LOG, place=place)
        elif not run.seen.is_new(KIND, *told):
            run.report.leave(KIND, "duplicates", "the same id again", place=place)
        elif not run.is_barred(KIND, log.user_id or "", standings, since=since, place=place):
            found = screen_event(event, policy=policy, keeps=run.keeps_secrets)
            if run.admit(KIND, found, place=place, sample=str(event.content)):
                screened = replace(found.value, created_at=min(event.created_at, now))
                admitted.append(replace(one, event=screened))
    return admitted


def _here(run: Run, log: Log, ids: Collection[str]) -> tuple[Session | None, frozenset[str | None]]:
    """The session of exactly that identity, and which of the ids it has; also those that were withdrawn."""
    tenant_id = run.caller.tenant_id
    with scope(tenant_id):
        session = Session.objects.filter(
            tenant_id=tenant_id,
            external_id=log.session_id,
            namespace=log.namespace,
            user_id=log.user_id or "",
        ).first()
        if session is None:
            return None, frozenset()
        found = Event.objects.filter(tenant_id=tenant_id, session_id=session.id, external_id__in=ids)
        return session, frozenset(found.values_list("external_id", flat=True))


def _is_blank(run: Run, session: Session | None) -> bool:
    """Whether nothing has happened in the session here, so that it may take what the source's holds."""
    if session is None:
        return True
    if session.last_seq or session.summary:
        return False
    tenant_id = run.caller.tenant_id
    with scope(tenant_id):
        state = SessionState.objects.filter(tenant_id=tenant_id, session_id=session.id).first()
    return state is None or not state.data


def _put_state(run: Run, session: Session | None, now: datetime, logs: Sequence[Log]) -> None:
    """The session is begun first: then it is kept for good, and not for as long as sessions that a client of
    its kind begins."""
    for log in logs:
        if not _is_blank(run, session):
            run.report.count("sessions", "unchanged")
            continue
        beside = {}
        for name, value in (("data", dict(log.data or {})), ("context", log.context)):
            screened = screen_beside(value, policy=run.policy(log.agent_id), keeps=run.keeps_secrets)
            run.admit("sessions", screened, place=log.place, sample=str(value))
            beside[name] = screened.value or None
        if not run.is_dry:
            address = _address(log)
            open_session(caller=run.caller, address=address, now=now, agent_id=log.agent_id)
            given = GivenWorkspace(data=beside["data"], context=beside["context"])
            put_working_memory(caller=run.caller, address=address, given=given, window=WindowSize(), now=now)
        run.report.count("sessions", "written")
