"""Sessions out of the store and into it again, without their logs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from tenants.caller import Caller
from tenants.scope import scope
from tenants.tombstones import last_erasures
from working import querysets
from working.models import Session

PAGE = 200


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session as it was elsewhere. Without a user it is the key's, else that of the session that the id
    means here already. `place` names it in what is said about it."""

    place: str
    session_id: str
    project: str
    started_at: datetime
    ended_at: datetime | None = None
    summary: str = ""
    message_count: int = 0
    user_id: str | None = None
    agent_id: str = ""
    namespace: str = ""


def export_sessions(*, caller: Caller, project: str) -> Iterator[list[Session]]:
    """The sessions of the project, in lower case, those begun first first; of all projects in the order in
    which they came here. In pages, each read in a scope of its own when it is asked for."""
    mine = Q(tenant_id=caller.tenant_id, **({"user_id": caller.user_id} if caller.user_id else {}))
    order = ("started_at", "id") if project else ("id",)
    mine &= Q(project_key=project) if project else Q()
    page: list[Session] = []
    while not page or len(page) == PAGE:
        with scope(caller.tenant_id):
            found = Session.objects.filter(mine, _behind(page[-1], order) if page else Q())
            page = list(found.order_by(*order)[:PAGE])
        yield page
        if not page:
            return


def import_sessions(*, caller: Caller, rows: Sequence[ImportedSession], now: datetime) -> int:
    """Adds those that are not here yet; how many these were. Without those of people who were erased since
    they began. Raises Forbidden for another's than the key's user."""
    if not rows:
        return 0
    with scope(caller.tenant_id):
        wanted = _wanted(caller, rows)
        return querysets.insert_sessions(
            tenant_id=caller.tenant_id, rows=[_columns(row, user, caller, now) for row, user in wanted]
        )


def missing_sessions(*, caller: Caller, rows: Sequence[ImportedSession]) -> int:
    """How many of them `import_sessions` would add now. Nothing is written. Raises what that raises."""
    if not rows:
        return 0
    with scope(caller.tenant_id):
        wanted = {(row.namespace, user, row.session_id) for row, user in _wanted(caller, rows)}
        here = Session.objects.filter(
            tenant_id=caller.tenant_id, external_id__in={session_id for *_, session_id in wanted}
        )
        return len(wanted.difference(here.values_list("namespace", "user_id", "external_id")))


def owners_of(*, tenant_id: UUID, session_ids: Collection[str]) -> Mapping[str, str]:
    """Whose the sessions are that ids mean without a user's name: nobody's, else the only user's. In an open
    scope; an id that means none is missing."""
    found: dict[str, set[str]] = {}
    for session_id, user in Session.objects.filter(
        tenant_id=tenant_id, external_id__in=session_ids
    ).values_list("external_id", "user_id"):
        found.setdefault(session_id, set()).add(user)
    return {one: "" if "" in users or len(users) > 1 else users.pop() for one, users in found.items()}


def _wanted(caller: Caller, rows: Sequence[ImportedSession]) -> list[tuple[ImportedSession, str]]:
    """Those that are not known to be here, with whose each is, as an import wants them. In an open scope."""
    named = [caller.confine_user(row.user_id) for row in rows]
    erased = last_erasures(tenant_id=caller.tenant_id, user_ids={user for user in named if user})
    known = owners_of(tenant_id=caller.tenant_id, session_ids={row.session_id for row in rows})
    return [
        (row, user)
        for row, user in zip(rows, named, strict=True)
        if (user or row.session_id not in known) and (user not in erased or erased[user] < row.started_at)
    ]


def _behind(last: Session, order: tuple[str, ...]) -> Q:
    if len(order) == 1:
        return Q(id__gt=last.id)
    # The first condition says nothing new, but an index can begin with it.
    later = Q(started_at__gt=last.started_at) | Q(started_at=last.started_at, id__gt=last.id)
    return Q(started_at__gte=last.started_at) & later


def _columns(row: ImportedSession, user: str, caller: Caller, now: datetime) -> querysets.SessionColumns:
    """One that was still open goes on from now: it is not idle since long ago."""
    return {
        "namespace": row.namespace,
        "user_id": user,
        "external_id": row.session_id,
        "agent_id": caller.agent_id or row.agent_id,
        "project": caller.project or row.project,
        "started_at": row.started_at.isoformat(),
        "opened_at": (row.started_at if row.ended_at else now).isoformat(),
        "last_activity_at": (row.ended_at or now).isoformat(),
        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
        "turn_count": row.message_count,
        "summary": row.summary,
    }
