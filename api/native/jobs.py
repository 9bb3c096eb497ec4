"""Jobs: how far they are, and dead letters put back."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import answers, schemas
from api.native.cursors import page, position_of
from api.native.views import NativeView, page_size
from api.views import caller_of, query_id
from tenants.errors import Invalid, NotFound
from tenants.jobs.queue import access_job, list_jobs, replay_job
from tenants.models import Job, JobState
from tenants.privacy.links import link_to

STATE = OpenApiParameter("state", str, enum=JobState.values, description="Only jobs in this state.")
KIND = OpenApiParameter("kind", str, description="Only jobs of this kind.")


class JobsView(NativeView):
    """`/api/v1/jobs`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="jobs_list",
        summary="Jobs, newest first; `state=failed` are the dead letters",
        parameters=[*parameters.LIST, STATE, KIND],
        responses=schemas.JobPage,
    )
    def get(self, request: Request) -> Response:
        limit, before = page_size(request), position_of(request)
        found = list_jobs(
            caller=caller_of(request),
            state=_state(request),
            kind=query_id(request, "kind"),
            before=before[1] if before else None,
            limit=limit + 1,
        )
        return Response(page(found, limit, moment=lambda one: one.created_at, show=answers.job))


class JobView(NativeView):
    """`/api/v1/jobs/{job_id}`"""

    scopes = {"GET": ("read", "privacy")}  # `privacy` alone: exports and erasures

    @extend_schema(summary="How far a job is; of an export, a link to it", responses=schemas.Job)
    def get(self, request: Request, job_id: str) -> Response:
        job = access_job(caller=caller_of(request), job_id=job_uuid(job_id))
        return Response(answers.job(job) | {"result": _with_link(request, job)})


class ReplayView(NativeView):
    """`/api/v1/jobs/{job_id}/replay`"""

    scopes = {"POST": "admin"}

    @extend_schema(summary="Put a dead letter back into the queue", request=None, responses=schemas.Job)
    def post(self, request: Request, job_id: str) -> Response:
        return once(
            request,
            Job,
            lambda: replay_job(caller=caller_of(request), job_id=job_uuid(job_id)),
            lambda job: Response(answers.job(job)),
        )


def _with_link(request: Request, job: Job) -> Any:
    """The job's result; of an export, with a link that downloads it without a key."""
    link = link_to(job, caller=caller_of(request), now=timezone.now())
    if link is None:
        return job.result
    url = request.build_absolute_uri(f"/api/v1/exports/{link.token}")
    return {**(job.result or {}), "download_url": url, "expires_at": link.expires_at}


def job_uuid(job_id: str) -> UUID:
    """The id in the path. Raises NotFound for what cannot be one."""
    try:
        return UUID(job_id)
    except ValueError as error:
        raise NotFound("There is no such job.") from error


def _state(request: Request) -> str | None:
    state = request.query_params.get("state")
    if state is not None and state not in JobState.values:
        raise Invalid(f"Must be one of {', '.join(JobState.values)}.", "state")
    return state
