"""What calls work on: jobs, exports, observations."""

import secrets
from uuid import UUID

from django.utils import timezone

from observations.projects import bound_project
from observations.saving import save_observation
from observations.types import NewObservation
from tenants.models import ExportChunk, Job
from tenants.scope import scope
from tests.conftest import Member


def dead_letter(member: Member) -> UUID:
    """A failed job that the member's key has asked for."""
    now, caller = timezone.now(), member.caller
    with scope(member.tenant.id):
        job = Job.objects.create(
            tenant_id=member.tenant.id,
            kind="test.dead",
            state="failed",
            user_id=caller.user_id,
            requested_by=caller.principal,
            run_at=now,
            created_at=now,
            max_attempts=1,
        )
    return job.id


def finished_export(member: Member) -> UUID:
    """An export that is done."""
    job_id = dead_letter(member)
    with scope(member.tenant.id):
        Job.objects.filter(id=job_id).update(kind="subject.export", state="done")
        ExportChunk.objects.create(tenant_id=member.tenant.id, job_id=job_id, number=0, data=b"file")
    return job_id


def noted(member: Member) -> int:
    """An observation within the reach of the member's key."""
    text = secrets.token_hex(8)
    new = NewObservation(
        session_id=text,
        type="decision",
        title="Nothing",
        content=text,
        project="" if bound_project(member.caller) else "apollo",
    )
    return save_observation(caller=member.caller, new=new, now=timezone.now()).observation.id
