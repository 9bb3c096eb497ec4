"""Where a person's memories were used: told to sessions, and what was thought of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from ledger.listing import InjectionFilter, list_injections
from ledger.models import Feedback, Injection
from recall.subjects.memories import KINDS, checked_kind, confine_person, current, identity_of, show
from tenants.caller import Caller
from tenants.scope import restricted_shown, scope
from working.models import Session


@dataclass(frozen=True, slots=True)
class Use:
    """A memory was told to a session. `agent` is empty where the session is gone or was nobody's; `verdict`
    is the newest about this use, None without one."""

    id: UUID
    kind: str
    memory_id: str
    session: str
    agent: str
    used_at: datetime
    verdict: str | None


def list_uses(
    *,
    caller: Caller,
    user_id: str,
    kind: str | None = None,
    id: str | None = None,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[Use]:
    """What sessions of the person were told of any memory, of one kind, or of the one with that id, newest
    first; `before`: continue after that one. Raises Forbidden when the key does not reach all of the person's
    memory."""
    confine_person(caller, user_id)
    where = InjectionFilter(user_id=user_id, kind=None if kind is None else checked_kind(kind))
    if kind is not None and id is not None:
        where = InjectionFilter(user_id=user_id, prefix=f"{kind}:{id}")
    with restricted_shown():
        found = list_injections(caller=caller, where=where, limit=limit, before=before)
        with scope(caller.tenant_id):
            agents = _agents(caller, user_id, found)
            verdicts = _verdicts(caller, user_id, found)
    return [
        Use(
            id=one.id,
            kind=one.item_key.partition(":")[0],
            memory_id=one.item_key.partition(":")[2],
            session=one.session,
            agent=agents.get((one.session, one.namespace), ""),
            used_at=one.marked_at,
            verdict=verdicts.get(one.id),
        )
        for one in found
    ]


def texts_told(*, caller: Caller, user_id: str, uses: Sequence[Use]) -> dict[UUID, str]:
    """What was told in each use, by its id, as it reads now; without what is none of the person's, or
    holds no longer. Raises Forbidden as above."""
    confine_person(caller, user_id)
    texts: dict[tuple[str, str], str] = {}
    with restricted_shown(), scope(caller.tenant_id):
        for kind in KINDS:
            ids = [identity_of(kind, use.memory_id) for use in uses if use.kind == kind]
            known = [id for id in ids if id is not None]
            for rows in current(caller, user_id, kind):
                texts |= {(kind, str(row.id)): show(row).text for row in rows.filter(id__in=known)}
    told = {use.id: texts.get((use.kind, use.memory_id)) for use in uses}
    return {id: text for id, text in told.items() if text is not None}


def _agents(caller: Caller, user_id: str, found: list[Injection]) -> dict[tuple[str, str], str]:
    sessions = Session.objects.filter(
        tenant_id=caller.tenant_id, external_id__in={one.session for one in found}, user_id=user_id
    )
    rows = sessions.values_list("external_id", "namespace", "agent_id")
    return {(external_id, namespace): agent for external_id, namespace, agent in rows}


def _verdicts(caller: Caller, user_id: str, found: list[Injection]) -> dict[UUID, str]:
    """Those that name the injection, else those about the same memory in the same session."""
    by_id = {one.id: one for one in found}
    by_memory = {(one.item_key, one.session): one.id for one in found}
    about = Q(injection_id__in=by_id) | Q(
        injection_id=None, memory_id__in={one.item_key.partition(":")[2] for one in found}
    )
    rows = Feedback.objects.filter(about, tenant_id=caller.tenant_id, user_id=user_id)
    verdicts: dict[UUID, str] = {}
    for row in rows.order_by("created_at", "id"):
        named = row.injection_id or by_memory.get((f"{row.kind}:{row.memory_id}", row.session))
        if named is not None:
            verdicts[named] = row.verdict
    return verdicts
