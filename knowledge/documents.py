"""Documents as they are listed, looked at and deleted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from knowledge import querysets
from knowledge.announcements import tell_document
from knowledge.models import Chunk, Document
from knowledge.reach import may_change, reach_of, seen
from knowledge.types import ShownDocument
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope
from webhooks.models import Event

ABSENT = "There is no such document."


@dataclass(frozen=True, slots=True)
class DeletedDocument:
    """Which one is gone."""

    id: UUID


def list_documents(
    *,
    caller: Caller,
    limit: int,
    project: str | None = None,
    user_id: str | None = None,
    source: str | None = None,
    before: tuple[datetime, UUID] | None = None,
) -> list[ShownDocument]:
    """Documents within the key's reach, the newest change first; `before`: continue after that one."""
    condition = seen(reach_of(caller, project=project, user_id=user_id))
    if source is not None:
        condition &= Q(source=source)
    if before is not None:
        moment, document_id = before
        condition &= Q(updated_at__lt=moment) | Q(updated_at=moment, id__lt=document_id)
    with scope(caller.tenant_id):
        return shown(list(Document.objects.filter(condition).order_by("-updated_at", "-id")[:limit]))


def access_document(*, caller: Caller, document_id: UUID) -> ShownDocument:
    """The document. Raises NotFound, also for one beyond the key's reach."""
    with scope(caller.tenant_id):
        found = Document.objects.filter(seen(reach_of(caller)), id=document_id).first()
        if found is None:
            raise NotFound(ABSENT)
        return shown([found])[0]


def list_chunks(*, caller: Caller, document_id: UUID, limit: int, after: int = -1) -> list[Chunk]:
    """The document's passages in its own order; `after`: those behind that position. Raises NotFound."""
    with scope(caller.tenant_id):
        if not Document.objects.filter(seen(reach_of(caller)), id=document_id).exists():
            raise NotFound(ABSENT)
        found = Chunk.objects.filter(
            tenant_id=caller.tenant_id, document_id=document_id, position__gt=after
        ).defer("lexemes")
        return list(found.order_by("position")[:limit])


def delete_document(*, caller: Caller, document_id: UUID) -> DeletedDocument:
    """Deletes the document with its chunks and their vectors. Raises NotFound; Forbidden for one that the key
    sees because everybody does."""
    with scope(caller.tenant_id):
        reached = Document.objects.select_for_update().filter(seen(reach_of(caller)), id=document_id)
        found = reached.first()
        if found is None:
            raise NotFound(ABSENT)
        if not may_change(caller, project=found.project, user_id=found.user_id):
            raise Forbidden("This document is not the key's own.")
        Document.objects.filter(tenant_id=caller.tenant_id, id=document_id).delete()
        if caller.kind == "member":  # what agents delete would be the log's greater part
            _record(caller, document_id, chunks=found.chunk_count)
        tell_document(found, Event.ERASED)
        deleted = DeletedDocument(document_id)
        idempotency.keep(deleted, user_id=found.user_id)
    return deleted


def shown(documents: Sequence[Document]) -> list[ShownDocument]:
    """Each with how many of its chunks have a vector. In the open scope."""
    if not documents:
        return []
    pending = querysets.pending_of(documents[0].tenant_id, [one.id for one in documents])
    return [ShownDocument(one, one.chunk_count - pending.get(one.id, 0)) for one in documents]


def _record(caller: Caller, document_id: UUID, **details: int) -> None:
    audit.record(
        tenant_id=caller.tenant_id,
        actor=caller.principal,
        action="document.delete",
        target=str(document_id),
        **details,
    )
