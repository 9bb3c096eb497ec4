"""Links that download an export without a key, for a while: for a person who has none.

A link is signed and not stored: it says which export it means and until when, and nothing of the person. It
ends with the export at the latest, which goes with the person.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer

from tenants.caller import Caller
from tenants.errors import Gone, NotFound
from tenants.models import Job, JobState, Tenant
from tenants.privacy.erasure import is_under_way
from tenants.privacy.export import DOWNLOAD, KIND, record, size_of
from tenants.scope import scope

SALT = "strata.export"
ACTOR = "link"  # in the audit log


@dataclass(frozen=True, slots=True)
class Link:
    """Whoever has the token can download until then."""

    token: str
    expires_at: datetime


def link_to(job: Job, *, caller: Caller, now: datetime) -> Link | None:
    """A new link to what the job has exported; None for any other job, and for who may not download it."""
    if job.kind != KIND or job.state != JobState.DONE or not caller.may("privacy"):
        return None
    expires_at = now.replace(microsecond=0) + timedelta(seconds=settings.EXPORT_LINK_SECONDS)
    meant = [job.tenant_id.hex, job.id.hex, int(expires_at.timestamp())]
    return Link(Signer(salt=SALT).sign_object(meant), expires_at)


def access_link(*, token: str, now: datetime) -> tuple[Job, int]:
    """The export that a link means and its size in bytes, for a download, which is entered in the audit log.
    Raises NotFound for what is no link of ours, Gone when it has expired or the export is not there now."""
    try:
        tenant, job, until = Signer(salt=SALT).unsign_object(token)
    except (BadSignature, ValueError) as error:
        raise NotFound("There is no such export.") from error
    if datetime.fromtimestamp(until, UTC) <= now:
        raise Gone("This link has expired.")
    with scope(UUID(tenant)):
        found = Job.objects.filter(tenant_id=UUID(tenant), id=UUID(job), kind=KIND, state=JobState.DONE)
        is_open = Tenant.objects.filter(id=UUID(tenant), disabled_at=None).exists()
        export = found.first() if is_open else None
        if export is None or is_under_way(tenant_id=export.tenant_id, user_id=export.user_id):
            raise Gone("This export is no longer there.")
        size = size_of(export)
        if not size:
            raise Gone("This export is no longer there.")
        record(tenant_id=export.tenant_id, user_id=export.user_id, actor=ACTOR, action=DOWNLOAD)
    return export, size
