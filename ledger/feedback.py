"""What was thought of memories that were recalled: one verdict per judge, memory and session, the newest."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Q

from ledger import querysets
from ledger.models import Feedback
from tenants import idempotency
from tenants.caller import Caller
from tenants.router import admin_role
from tenants.scope import scope
from tenants.tombstones import refuse_erased

Verdict = Feedback.Verdict
DAYS = 7  # that the share of helpful verdicts looks back


@dataclass(frozen=True, slots=True)
class Judged:
    """The memory that is judged, and whose it is; of a trial, the setting that recalled it."""

    kind: str
    memory_id: str
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    session: str = ""
    injection_id: UUID | None = None
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts about one memory."""

    helpful: int = 0
    not_helpful: int = 0
    harmful: int = 0


@dataclass(frozen=True, slots=True)
class FeedbackFilter:
    """Which verdicts are meant. None: any."""

    user_id: str | None = None
    session_id: str | None = None
    kind: str | None = None
    memory_id: str | None = None
    verdict: str | None = None
    since: datetime | None = None


def put_feedback(*, caller: Caller, judged: Judged, verdict: str, note: str, now: datetime) -> Feedback:
    """Keeps the caller's verdict in place of an earlier one about the same memory in the same session."""
    row = Feedback(
        tenant_id=caller.tenant_id,
        user_id=judged.user_id,
        agent_id=judged.agent_id,
        project=judged.project,
        session=judged.session,
        kind=judged.kind,
        memory_id=judged.memory_id,
        injection_id=judged.injection_id,
        verdict=verdict,
        note=note,
        variant=judged.variant,
        judge=caller.principal,
        created_at=now,
    )
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=judged.user_id, since=now)
        kept = querysets.put_feedback(row)
        idempotency.keep(kept, user_id=judged.user_id)
    return kept


def list_feedback(
    *,
    caller: Caller,
    where: FeedbackFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[Feedback]:
    """Verdicts about memories within the key's reach, newest first; `before`: continue after that one."""
    named = {
        "user_id": caller.confine_user(where.user_id),
        "session": where.session_id,
        "kind": where.kind,
        "memory_id": where.memory_id,
        "verdict": where.verdict,
        "created_at__gte": where.since,
    }
    condition = Q(tenant_id=caller.tenant_id, **{name: value for name, value in named.items() if value})
    condition &= _reach(caller)
    if before is not None:
        moment, feedback_id = before
        condition &= Q(created_at__lte=moment) & (Q(created_at__lt=moment) | Q(id__lt=feedback_id))
    with scope(caller.tenant_id):
        return list(Feedback.objects.filter(condition).order_by("-created_at", "-id")[:limit])


def _reach(caller: Caller) -> Q:
    """What a key that is bound to an agent or project sees: verdicts about that one's memories, and those it
    gave about what others share with it."""
    theirs = Q()
    if caller.agent_id:
        theirs &= Q(agent_id=caller.agent_id)
    if caller.project:  # observations keep it in lower case
        theirs &= Q(project__iexact=caller.project)
    return theirs | Q(judge=caller.principal) if theirs else Q()


def tallies(*, caller: Caller, kind: str, memory_ids: Collection[str]) -> Mapping[str, Tally]:
    """The verdicts about each of the memories that has any, in one query."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    with scope(caller.tenant_id):
        about = Feedback.objects.filter(tenant_id=caller.tenant_id, kind=kind, memory_id__in=list(memory_ids))
        counted = about.order_by().values_list("memory_id", "verdict").annotate(count=Count("id"))
        for memory_id, verdict, count in counted:
            found[memory_id][verdict] = count
    return {memory_id: Tally(**counts) for memory_id, counts in found.items()}


def helpful_memories(
    *, tenant_id: UUID, user_id: str, session: str, kind: str, memory_ids: Collection[str]
) -> set[str]:
    """Those of the memories that somebody called helpful in the session, and nobody harmful. In the open
    scope."""
    about = Feedback.objects.filter(
        tenant_id=tenant_id, user_id=user_id, session=session, kind=kind, memory_id__in=list(memory_ids)
    )
    found: dict[str, set[str]] = {verdict: set() for verdict in Verdict.values}
    for memory_id, verdict in about.values_list("memory_id", "verdict"):
        found[verdict].add(memory_id)
    return found[Verdict.HELPFUL] - found[Verdict.HARMFUL]


def helpful_rate(*, now: datetime, days: int = DAYS) -> float | None:
    """The share of helpful ones among the verdicts of the last days, of all tenants; None without any.
    A named cross-tenant job."""
    with admin_role():
        recent = Feedback.objects.filter(created_at__gte=now - timedelta(days=days))
        counted = recent.aggregate(all=Count("id"), helpful=Count("id", filter=Q(verdict=Verdict.HELPFUL)))
    return counted["helpful"] / counted["all"] if counted["all"] else None
