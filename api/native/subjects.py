"""What a person can ask for: an export, an erasure, and the receipts of erasures."""

from collections.abc import Callable
from functools import partial

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import answers, schemas, serializers
from api.native.cursors import page, position_of
from api.native.jobs import job_uuid
from api.native.views import NativeView, page_size
from api.views import caller_of, checked_id, json_body, validated
from tenants.models import Job
from tenants.privacy.erasure import list_receipts, request_erasure
from tenants.privacy.export import access_export, read_export, request_export

ZIP = "application/zip"
FILE = {(200, ZIP): OpenApiTypes.BINARY}


class ExportView(NativeView):
    """`/api/v1/subjects/{user_id}/export`"""

    scopes = {"POST": "privacy"}

    @extend_schema(
        summary="Export everything that is kept of a person",
        request=serializers.NoFields,
        responses={202: schemas.Job},
    )
    def post(self, request: Request, user_id: str) -> Response:
        return _begun(request, user_id, request_export)


class EraseView(NativeView):
    """`/api/v1/subjects/{user_id}/erase`"""

    scopes = {"POST": "privacy"}

    @extend_schema(
        summary="Erase everything that is kept of a person",
        request=serializers.NoFields,
        responses={202: schemas.Job},
    )
    def post(self, request: Request, user_id: str) -> Response:
        return _begun(request, user_id, request_erasure)


class ReceiptsView(NativeView):
    """`/api/v1/subjects/{user_id}/receipts`"""

    scopes = {"GET": "privacy"}

    @extend_schema(
        summary="A person's erasures, newest first",
        parameters=parameters.LIST,
        responses=schemas.ReceiptPage,
    )
    def get(self, request: Request, user_id: str) -> Response:
        limit = page_size(request)
        found = list_receipts(
            caller=caller_of(request),
            user_id=checked_id(user_id, "user_id"),
            limit=limit + 1,
            before=position_of(request),
        )
        return Response(page(found, limit, moment=lambda one: one.erased_at, show=answers.receipt))


class DownloadView(NativeView):
    """`/api/v1/jobs/{job_id}/download`"""

    scopes = {"GET": "privacy"}

    @extend_schema(summary="The file of a finished export", responses=FILE)
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        return file_of(*access_export(caller=caller_of(request), job_id=job_uuid(job_id)))


def file_of(job: Job, size: int) -> HttpResponseBase:
    """The export as an attachment, which nobody on the way is to keep."""
    pieces = read_export(tenant_id=job.tenant_id, job_id=job.id)
    response = StreamingHttpResponse(pieces, content_type=ZIP)
    response["Content-Disposition"] = f'attachment; filename="export-{job.id}.zip"'
    response["Content-Length"] = str(size)  # by it, a client sees a download that ended early
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _begun(request: Request, user_id: str, begin: Callable[..., Job]) -> Response:
    body = json_body(request)
    validated(serializers.NoFields, {} if body is None else body)
    named = checked_id(user_id, "user_id")
    write = partial(begin, caller=caller_of(request), user_id=named, now=timezone.now())
    return once(request, Job, write, _accepted)


def _accepted(job: Job) -> Response:
    return Response(answers.job(job), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})
