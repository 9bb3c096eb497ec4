"""Everything out, and in again."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from itertools import chain

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.agentops import answers, parameters, schemas
from api.agentops.importing import read_rows
from api.agentops.renderers import dump
from api.agentops.views import AgentOpsView, text_in_query
from api.parsers import stream_of
from api.views import caller_of
from recall.transfer import Export, export_memory, import_memory

PIECE = 65_536  # characters that are sent together


class ExportView(AgentOpsView):
    """`/export`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="All sessions and observations, oldest first",
        parameters=[parameters.PROJECT],
        responses=schemas.AgentOpsExport,
    )
    def get(self, request: Request) -> HttpResponseBase:
        found = export_memory(caller=caller_of(request), project=text_in_query(request, "project"))
        if request.method == "HEAD":
            return HttpResponse(content_type="application/json")
        pieces = _pieces(_text(found, timezone.now()))
        # The first is read now: what goes wrong until then can still be told by the status.
        return StreamingHttpResponse(chain([next(pieces)], pieces), content_type="application/json")


class ImportView(AgentOpsView):
    """`/import`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Add what is not here yet of an export",
        request=schemas.AgentOpsExport,
        responses=schemas.AgentOpsImported,
    )
    def post(self, request: Request) -> Response:
        now = timezone.now()
        with closing(read_rows(stream_of(request._request).read, now=now)) as rows:
            done = import_memory(caller=caller_of(request), rows=rows, now=now)
        return Response({"imported_sessions": done.sessions, "imported_observations": done.observations})


def _text(found: Export, now: datetime) -> Iterator[str]:
    """The export, row by row."""
    yield f'{{"exported_at":{dump(answers.moment(now))},"sessions":['
    yield from _separated(dump(answers.exported_session(one)) for one in found.sessions)
    yield '],"observations":['
    yield from _separated(dump(answers.exported_observation(one)) for one in found.observations)
    yield "]}\n"


def _separated(rows: Iterator[str]) -> Iterator[str]:
    for position, row in enumerate(rows):
        yield f",{row}" if position else row


def _pieces(text: Iterator[str]) -> Iterator[bytes]:
    waiting, size = [], 0
    for part in text:
        waiting.append(part)
        size += len(part)
        if size >= PIECE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()
