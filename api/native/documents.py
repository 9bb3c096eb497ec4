"""Documents: taken in, looked at, searched."""

from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.multipart import FORM, is_form, read_form
from api.native import document_schemas as schemas
from api.native.cursors import page, position_of
from api.native.views import NativeView, page_size
from api.parsers import parse_json
from api.views import caller_of, checked_id, json_body, named_user, query_id, validated
from knowledge.documents import DeletedDocument, access_document, delete_document, list_documents
from knowledge.ingesting import ingest_document
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter, ChunkHit, Ingested, NewDocument, ShownDocument
from tenants.errors import Invalid, NotFound

TOP_K = 5
LONGEST_SOURCE = 1_000
PROJECT = OpenApiParameter(
    "project", parameters.LONGEST, description="Only of this project, in any case, or of none."
)
USER = OpenApiParameter("user_id", parameters.LONGEST, description="Only of this user, or of none.")
SOURCE = OpenApiParameter(
    "source", {"type": "string", "minLength": 1, "maxLength": LONGEST_SOURCE}, description="Only from there."
)


class DocumentsView(NativeView):
    """`/api/v1/documents`"""

    scopes = {"GET": "read", "POST": "ingest"}

    @extend_schema(
        operation_id="documents_list",
        summary="Documents, the newest change first",
        parameters=[*parameters.LIST, PROJECT, USER, SOURCE],
        responses=schemas.DocumentPage,
    )
    def get(self, request: Request) -> Response:
        limit, source = page_size(request), request.query_params.get("source")
        found = list_documents(
            caller=caller_of(request),
            limit=limit + 1,
            project=query_id(request, "project"),
            user_id=query_id(request, "user_id"),
            source=checked_id(source, "source", LONGEST_SOURCE) if source else None,
            before=position_of(request),
        )
        return Response(page([one.document for one in found], limit, moment=_updated_at, show=_by_id(found)))

    @extend_schema(
        summary="Take a document in: as JSON, or a form with a file",
        request={"application/json": schemas.NewDocumentBody, FORM: schemas.NewDocumentForm},
        responses={200: schemas.IngestedDocument, 201: schemas.IngestedDocument},
    )
    def post(self, request: Request) -> Response:
        new = _from_form(request) if is_form(request) else _from_json(request)
        ingest = partial(ingest_document, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, Ingested, ingest, _ingested)


class DocumentView(NativeView):
    """`/api/v1/documents/{document_id}`"""

    scopes = {"GET": "read", "DELETE": "ingest"}

    @extend_schema(summary="A document", responses=schemas.Document)
    def get(self, request: Request, document_id: str) -> Response:
        return Response(_shown(access_document(caller=caller_of(request), document_id=_named(document_id))))

    @extend_schema(summary="Delete a document with its chunks", responses={204: None})
    def delete(self, request: Request, document_id: str) -> Response:
        delete = partial(delete_document, caller=caller_of(request), document_id=_named(document_id))
        return once(request, DeletedDocument, delete, lambda _done: Response(status=204))


class SearchDocumentsView(NativeView):
    """`POST /api/v1/documents/search`"""

    scopes = {"POST": "read"}

    @extend_schema(
        summary="What do the documents say about this?",
        parameters=[parameters.BODY_USER],
        request=schemas.SearchDocuments,
        responses=schemas.FoundChunks,
    )
    def post(self, request: Request) -> Response:
        body = validated(schemas.SearchDocuments, json_body(request))
        user_id = named_user(request, body.get("user_id"))
        hits = search_chunks(
            caller=caller_of(request),
            query=body["query"],
            top_k=body.get("top_k", TOP_K),
            where=ChunkFilter(user_id=user_id, **body.get("filters", {})),
        )
        return Response({"results": [_hit(one) for one in hits]})


def _from_json(request: Request) -> NewDocument:
    body = validated(schemas.NewDocumentBody, json_body(request))
    return NewDocument(
        data=body["content"].encode(), encoding="utf-8", title=body["title"], metadata=body.get("metadata"),
        **_about(body),
    )  # fmt: skip


def _from_form(request: Request) -> NewDocument:
    form = read_form(request, longest=settings.DOCUMENT_MAX_BYTES)
    if set(form.files) != {"file"}:
        raise Invalid("Send one file, as the field `file`.", "file")
    fields, file = validated(schemas.NewDocumentFields, form.fields), form.files["file"]
    metadata = parse_json(fields["metadata"].encode()) if "metadata" in fields else None
    if metadata is not None and not isinstance(metadata, dict):
        raise Invalid("Must be a JSON object.", "metadata")
    about = _about(fields)
    about["media_type"] = about["media_type"] or ("" if file.content_type == "" else str(file.content_type))
    return NewDocument(
        data=file.read(), title=fields.get("title", ""), filename=file.name or "", metadata=metadata,
        field="file", **about,
    )  # fmt: skip


def _about(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": fields.get("source") or "",
        "media_type": fields.get("media_type") or "",
        "project": fields.get("project"),
        "user_id": fields.get("user_id"),
    }


def _named(document_id: str) -> UUID:
    try:
        return UUID(document_id)
    except ValueError as error:
        raise NotFound("There is no such document.") from error


def _updated_at(one: Any) -> Any:
    return one.updated_at


def _by_id(found: list[ShownDocument]) -> Any:
    shown = {one.document.id: one for one in found}
    return lambda document: _shown(shown[document.id])


def _ingested(done: Ingested) -> Response:
    shown = {**_shown(done.shown), "status": done.action}
    return Response(shown, status=201 if done.action == "created" else 200)


def _shown(one: ShownDocument) -> dict[str, Any]:
    document = one.document
    return {
        "id": document.id,
        "title": document.title,
        "source": document.source or None,
        "media_type": document.media_type,
        "project": document.project or None,
        "user_id": document.user_id or None,
        "checksum": document.checksum,
        "size": document.size,
        "chunks": document.chunk_count,
        "embedded": one.embedded,
        "metadata": document.metadata,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _hit(one: ChunkHit) -> dict[str, Any]:
    return {
        "id": one.chunk.id,
        "document_id": one.document.id,
        "title": one.document.title,
        "source": one.document.source or None,
        "position": one.chunk.position,
        "heading": one.chunk.heading or None,
        "page": one.chunk.page,
        "text": one.chunk.text,
        "score": one.score,
        "signals": one.signals,
    }
