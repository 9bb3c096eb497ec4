"""Sessions and observations of an export on their way in."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from memoryproject.importing.batches import write_batch
from memoryproject.importing.rows import Exported, Kind
from memoryproject.importing.run import Run
from memoryproject.importing.screening import screen_beside, screen_observation
from observations.dedup import normalized_hash
from observations.transfer import ImportedObservation, missing_observations
from recall.transfer import Row, import_memory
from tenants.scope import scope
from tenants.tombstones import Erased, Standings, last_erasures
from working.transfer import ImportedSession, missing_sessions


def write_exported(run: Run, rows: Sequence[Exported]) -> None:
    """Adds, in one commit, those that may come in and are not here yet. None that is here is changed."""
    now = run.clock()
    standings = run.standings({row.user_id or run.user_id for row in rows})
    admitted = [one for row in rows if (one := _admitted(run, row, standings)) is not None]
    write_batch(run, admitted, partial(_save, run, now), tell=lambda row: (_kind(row), row.place))


def _admitted(run: Run, row: Exported, standings: Standings) -> Row | None:
    kind, whose = _kind(row.row), run.whose(row.user_id)
    if whose is None:
        run.report.leave(kind, "passed_by", "another person's", place=row.place)
        return None
    mine = _with(row.row, whose, run.agent_id)
    if not run.seen.is_new(kind, whose, *_identity(mine)):
        run.report.leave(kind, "duplicates", "the same again", place=row.place)
        return None
    since = mine.started_at if isinstance(mine, ImportedSession) else mine.created_at
    if run.is_barred(kind, whose, standings, since=since if row.is_dated else None, place=row.place):
        return None
    return _screened(run, mine)


def _screened(run: Run, row: Row) -> Row | None:
    policy, keeps = run.policy(row.agent_id), run.keeps_secrets
    if isinstance(row, ImportedSession):
        told = screen_beside(row.summary, policy=policy, keeps=keeps)
        run.admit("sessions", told, place=row.place, sample=row.summary)
        return replace(row, summary=told.value)
    found = screen_observation(row, policy=policy, keeps=keeps)
    is_in = run.admit("observations", found, place=row.place, sample=f"{row.new.title}: {row.new.content}")
    screened: ImportedObservation | None = found.value
    return screened if is_in else None


def _save(run: Run, now: datetime, rows: Sequence[Row]) -> None:
    sessions = [row for row in rows if isinstance(row, ImportedSession)]
    observations = [row for row in rows if isinstance(row, ImportedObservation)]
    if run.is_dry:
        added = (
            missing_sessions(caller=run.caller, rows=sessions),
            missing_observations(caller=run.caller, rows=observations),
        )
    else:
        with scope(run.caller.tenant_id):
            _refuse_erased(run, rows, now)
            done = import_memory(caller=run.caller, rows=rows, now=now)
        added = done.sessions, done.observations
    _count(run, "sessions", len(sessions), added[0])
    _count(run, "observations", len(observations), added[1])


def _refuse_erased(run: Run, rows: Sequence[Row], now: datetime) -> None:
    """Says of those who were erased since `now` what would else pass for being here already."""
    users = {row.user_id if isinstance(row, ImportedSession) else row.new.user_id for row in rows}
    erased = last_erasures(tenant_id=run.caller.tenant_id, user_ids={one for one in users if one})
    if any(moment >= now for moment in erased.values()):
        raise Erased("This person's memory was erased meanwhile.")


def _count(run: Run, kind: Kind, given: int, added: int) -> None:
    if given:
        run.report.count(kind, "written", added)
        run.report.count(kind, "unchanged", given - added)


def _kind(row: Row) -> Kind:
    return "sessions" if isinstance(row, ImportedSession) else "observations"


def _with(row: Row, user_id: str, agent_id: str) -> Row:
    """With the person whose it becomes, and the agent where it names none."""
    agent = row.agent_id or agent_id
    if isinstance(row, ImportedSession):
        return replace(row, user_id=user_id or None, agent_id=agent)
    return replace(row, new=replace(row.new, user_id=user_id or None), agent_id=agent)


def _identity(row: Row) -> tuple[str, ...]:
    """What makes two entries of an export one, beside whose they are."""
    if isinstance(row, ImportedSession):
        return row.namespace, row.session_id
    new, second = row.new, row.created_at.replace(microsecond=0).isoformat()
    return new.project.lower(), new.session_id, new.type, new.title, normalized_hash(new.content), second
