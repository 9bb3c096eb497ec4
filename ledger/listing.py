"""The log of injections: what sessions were told, newest first."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from ledger.models import Feedback, Injection
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from working.models import Session
from working.types import SessionRef

MOST_JUDGED = 500
MOST_TOLD = 10_000


@dataclass(frozen=True, slots=True)
class InjectionFilter:
    """Which injections are meant. None: any. `kind` is what stands before the colon of the item's key;
    `prefix` is how the key begins, `item_key` is all of it. `agent_id`: of that one's sessions that there
    still are. `verdict`: of memories that were judged so, the `MOST_JUDGED` that were last."""

    user_id: str | None = None
    session_id: str | None = None
    namespace: str | None = None
    kind: str | None = None
    prefix: str | None = None
    item_key: str | None = None
    agent_id: str | None = None
    verdict: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """How often something was told, to how many sessions, and when the first and the last time."""

    told: int
    sessions: int
    first: datetime | None
    last: datetime | None


def list_injections(
    *,
    caller: Caller,
    where: InjectionFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[Injection]:
    """Injections within the key's reach, newest first, also those that have ended; `before`: continue after
    that one."""
    condition = _reach(caller, where.user_id)
    if where.session_id is not None:
        condition &= Q(session=where.session_id)
    if where.namespace is not None:
        condition &= Q(namespace=where.namespace)
    if where.kind is not None:
        condition &= Q(item_key__startswith=f"{where.kind}:")
    if where.prefix is not None:
        condition &= Q(item_key__startswith=where.prefix)
    if where.item_key is not None:
        condition &= Q(item_key=where.item_key)
    if where.agent_id is not None:
        condition &= Q(Exists(_sessions(caller, agent_id=caller.confine_agent(where.agent_id))))
    if where.since is not None:
        condition &= Q(marked_at__gte=where.since)
    if before is not None:
        moment, injection_id = before
        condition &= Q(marked_at__lte=moment) & (Q(marked_at__lt=moment) | Q(id__lt=injection_id))
    with scope(caller.tenant_id):
        if where.verdict is not None:
            condition &= Q(item_key__in=_judged(caller, where.verdict))
        return list(Injection.objects.filter(condition).order_by("-marked_at", "-id")[:limit])


def usage_of(*, caller: Caller, item_key: str) -> Usage:
    """Where one item was used, within the key's reach, as far as its newest `MOST_TOLD` injections say."""
    condition = _reach(caller, None) & Q(item_key=item_key)
    with scope(caller.tenant_id):
        newest = Injection.objects.filter(condition).order_by("-marked_at", "-id")[:MOST_TOLD]
        rows = list(newest.values_list("session", "namespace", "user_id", "marked_at"))
    sessions = {row[:3] for row in rows}
    return Usage(len(rows), len(sessions), rows[-1][3] if rows else None, rows[0][3] if rows else None)


def access_injection(*, caller: Caller, injection_id: UUID) -> Injection:
    """One that the key reaches. Raises NotFound, also for another's."""
    with scope(caller.tenant_id):
        found = Injection.objects.filter(_reach(caller, None), id=injection_id).first()
    if found is None:
        raise NotFound("There is no such injection.")
    return found


def injections_of(
    *, ref: SessionRef, since: datetime | None = None, until: datetime | None = None, limit: int
) -> list[Injection]:
    """What the session was told in that time, ended or not, newest first. In the open scope."""
    marks = Injection.objects.filter(
        tenant_id=ref.tenant_id, session=ref.session_id, namespace=ref.namespace, user_id=ref.user_id
    )
    if since is not None:
        marks = marks.filter(marked_at__gte=since)
    if until is not None:
        marks = marks.filter(marked_at__lt=until)
    return list(marks.order_by("-marked_at", "-id")[:limit])


def was_told(*, ref: SessionRef, prefix: str) -> bool:
    """Whether the session holds a mark of such an item that it was told for a query. In the open scope."""
    return _told(ref, prefix).filter(released_at=None).exists()


def told_by_query(*, ref: SessionRef, prefix: str, since: datetime) -> list[tuple[str, str]]:
    """The digest of a query and the key of an item that the session was told for it, since then, in the order
    in which it was told. In the open scope."""
    found = _told(ref, prefix).filter(marked_at__gte=since).order_by("marked_at", "id")
    return list(found.values_list("asked", "item_key"))


def _told(ref: SessionRef, prefix: str) -> QuerySet[Injection]:
    """The marks of such items that tell for which query they are, ended or not."""
    marks = Injection.objects.filter(
        tenant_id=ref.tenant_id, session=ref.session_id, namespace=ref.namespace, user_id=ref.user_id
    )
    return marks.filter(item_key__startswith=prefix).exclude(asked="")


def _reach(caller: Caller, user_id: str | None) -> Q:
    """What the key sees. The log does not say whose agent or project a session was: a key that is bound to
    one sees those of its sessions that there still are."""
    condition = Q(tenant_id=caller.tenant_id)
    if user := caller.confine_user(user_id):
        condition &= Q(user_id=user)
    owners = {"agent_id": caller.agent_id, "project": caller.project}
    if bound := {name: value for name, value in owners.items() if value}:
        condition &= Q(Exists(_sessions(caller, **bound)))
    return condition


def _sessions(caller: Caller, **whose: str) -> QuerySet[Session]:
    """The session of an injection, if it is that one's."""
    return Session.objects.filter(
        tenant_id=caller.tenant_id,
        external_id=OuterRef("session"),
        namespace=OuterRef("namespace"),
        user_id=OuterRef("user_id"),
        **whose,
    )


def _judged(caller: Caller, verdict: str) -> list[str]:
    """The items' keys of the memories that were judged so, by what was said last. In the open scope."""
    given = Feedback.objects.filter(tenant_id=caller.tenant_id, verdict=verdict).order_by("-created_at")
    return [f"{kind}:{memory_id}" for kind, memory_id in given.values_list("kind", "memory_id")[:MOST_JUDGED]]
