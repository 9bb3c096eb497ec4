"""The log of injections: what sessions were told, newest first."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from ledger.models import Injection
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from working.models import Session


@dataclass(frozen=True, slots=True)
class InjectionFilter:
    """Which injections are meant. None: any. `kind` is what stands before the colon of the item's key;
    `prefix` is how the key begins."""

    user_id: str | None = None
    session_id: str | None = None
    namespace: str | None = None
    kind: str | None = None
    prefix: str | None = None
    since: datetime | None = None


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
    if where.since is not None:
        condition &= Q(marked_at__gte=where.since)
    if before is not None:
        moment, injection_id = before
        condition &= Q(marked_at__lte=moment) & (Q(marked_at__lt=moment) | Q(id__lt=injection_id))
    with scope(caller.tenant_id):
        return list(Injection.objects.filter(condition).order_by("-marked_at", "-id")[:limit])


def access_injection(*, caller: Caller, injection_id: UUID) -> Injection:
    """One that the key reaches. Raises NotFound, also for another's."""
    with scope(caller.tenant_id):
        found = Injection.objects.filter(_reach(caller, None), id=injection_id).first()
    if found is None:
        raise NotFound("There is no such injection.")
    return found


def _reach(caller: Caller, user_id: str | None) -> Q:
    """What the key sees. The log does not say whose agent or project a session was: a key that is bound to
    one sees those of its sessions that there still are."""
    condition = Q(tenant_id=caller.tenant_id)
    if user := caller.confine_user(user_id):
        condition &= Q(user_id=user)
    owners = {"agent_id": caller.agent_id, "project": caller.project}
    if bound := {name: value for name, value in owners.items() if value}:
        sessions = Session.objects.filter(
            tenant_id=caller.tenant_id,
            external_id=OuterRef("session"),
            namespace=OuterRef("namespace"),
            user_id=OuterRef("user_id"),
            **bound,
        )
        condition &= Q(Exists(sessions))
    return condition
