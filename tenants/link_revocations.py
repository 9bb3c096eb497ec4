"""Until when links to people's own pages are void: what was made until then opens nothing any more.

One row per person, under the keyed hash, so that it outlives an erasure. Every moment here is of PostgreSQL's
clock, which all servers share: else one whose clock is ahead would make links that no revocation reaches. A
link of the very microsecond of a revocation is void, and no link is made in one: the next is dated after it.
"""

from datetime import datetime
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from tenants.models import LinkRevocation

VOID = """
INSERT INTO tenants_linkrevocation AS present (id, tenant_id, subject, void_until)
VALUES (%s, %s, %s, clock_timestamp())
ON CONFLICT (tenant_id, subject) DO UPDATE SET void_until = greatest(present.void_until, excluded.void_until)
RETURNING void_until
"""
NEXT = """
SELECT greatest(clock_timestamp(), max(void_until) + interval '1 microsecond')
FROM tenants_linkrevocation WHERE tenant_id = %s AND subject = %s
"""


def void_links(*, tenant_id: UUID, subject: str) -> datetime:
    """Voids every link and visit of the person that was made until now, in the open scope; until when."""
    with connection.cursor() as cursor:
        cursor.execute(VOID, [uuid7(), tenant_id, subject])
        found: datetime = cursor.fetchone()[0]
    return found


def next_moment(*, tenant_id: UUID, subject: str) -> datetime:
    """When a link that is made now is made, in the open scope: after the last revocation."""
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [tenant_id, subject])
        found: datetime = cursor.fetchone()[0]
    return found


def void_until(*, tenant_id: UUID, subject: str) -> datetime | None:
    """Until when the person's links are void, in the open scope; None where none ever was revoked."""
    found = LinkRevocation.objects.filter(tenant_id=tenant_id, subject=subject)
    return found.values_list("void_until", flat=True).first()
