"""Which sessions have turns that no summary tells of, and nobody has used them for long."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import F, Q

from tenants.models import PolicyVersion
from tenants.router import admin_role
from tenants.scope import scope
from working import querysets
from working.models import Session

PAGE = 500


def tenants_with_policies() -> list[UUID]:
    """Tenants that have ever decided anything. Asks as the admin role."""
    with admin_role():
        return list(
            PolicyVersion.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct()
        )


def agents_of(tenant_id: UUID) -> list[str]:
    """The levels at which the tenant may have decided something: its own, "", and its agents'."""
    with scope(tenant_id):
        return ["", *querysets.agents_with_policies(tenant_id)]


def unsummarised_sessions(*, tenant_id: UUID, unused_since: datetime) -> Iterator[list[Session]]:
    """Sessions that PostgreSQL has not seen in use since then and whose newest events no summary covers, in
    pages, those unused longest first."""
    found = Session.objects.filter(
        tenant_id=tenant_id, last_activity_at__lte=unused_since, last_seq__gt=F("summarised_seq")
    )
    after: Session | None = None
    while True:
        later = _behind(after) if after else Q()
        with scope(tenant_id):
            page = list(found.filter(later).order_by("last_activity_at", "id")[:PAGE])
        if page:
            yield page
            after = page[-1]
        if len(page) < PAGE:
            return


def _behind(last: Session) -> Q:
    moment = last.last_activity_at
    return Q(last_activity_at__gt=moment) | Q(last_activity_at=moment, id__gt=last.id)
