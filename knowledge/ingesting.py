"""Taking a document in: read and cut, then stored in one commit that replaces what its source said before."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from uuid_utils.compat import uuid7

from knowledge import querysets
from knowledge.announcements import tell_document
from knowledge.chunks import replace_chunks
from knowledge.documents import shown
from knowledge.embedding import ask_for_vectors
from knowledge.metrics import CHUNKS, DOCUMENTS
from knowledge.models import Document
from knowledge.reach import owner_of
from knowledge.reading.blocks import Unreadable
from knowledge.reading.plain import UNSTORABLE
from knowledge.reading.reader import LONGEST_TITLE, ReadDocument, media_type_of
from knowledge.sandbox import read_safely
from knowledge.types import Action, Ingested, NewDocument
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Invalid, TooLarge
from tenants.scope import scope
from tenants.tombstones import last_erasures, refuse_erased
from webhooks.models import Event

LONGEST_SOURCE = 1_000  # characters: of the column


@dataclass(frozen=True, slots=True)
class _Sent:
    """A document as it came: whose it is, and what tells it from others."""

    tenant_id: UUID
    project: str
    user_id: str
    media_type: str
    checksum: str
    new: NewDocument

    @property
    def lock(self) -> int:
        """Of those that would be the same document."""
        name = self.new.source or self.checksum
        text = "\x00".join((self.tenant_id.hex, "document", self.project, self.user_id, name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], signed=True)


def ingest_document(*, caller: Caller, new: NewDocument, now: datetime) -> Ingested:
    """Takes the document in. It is the one of the same source, project and user, else, without a source, the
    one with the same content; what is new of it replaces what it said, at once for every reader.

    Raises Invalid for what cannot be read, naming the reason; TooLarge above `DOCUMENT_MAX_BYTES`; Forbidden
    when it names another project or user than the key is bound to.
    """
    if len(new.data) > settings.DOCUMENT_MAX_BYTES:
        raise TooLarge(f"The document exceeds {settings.DOCUMENT_MAX_BYTES} bytes.")
    sent = _sent(caller, new)
    known = _find_same(sent, now)
    return known if known is not None else _store(sent, _read(sent), now)


def add_document(*, caller: Caller, new: NewDocument, now: datetime) -> Ingested:
    """Takes the document in that a person sends by hand; that they did is in the audit log."""
    done = ingest_document(caller=caller, new=new, now=now)
    with scope(caller.tenant_id):
        audit.record(
            tenant_id=caller.tenant_id,
            actor=caller.principal,
            action="document.ingest",
            target=str(done.shown.document.id),
            outcome=done.action,
        )
    return done


def _sent(caller: Caller, new: NewDocument) -> _Sent:
    project, user_id = owner_of(caller, project=new.project, user_id=new.user_id)
    _check_text("title", new.title, LONGEST_TITLE)
    _check_text("source", new.source, LONGEST_SOURCE)
    try:
        media_type = media_type_of(new.media_type, new.filename or new.source, new.data)
    except Unreadable as error:
        raise Invalid(str(error), "media_type") from error
    checksum = hashlib.sha256(new.data).hexdigest()
    return _Sent(caller.tenant_id, project, user_id, media_type, checksum, new)


def _check_text(field: str, text: str, longest: int) -> None:
    """Names of files may hold bytes that are no characters."""
    if len(text) > longest:
        raise Invalid(f"May not be longer than {longest} characters.", field)
    if UNSTORABLE.search(text):
        raise Invalid("Holds characters that cannot be stored.", field)


def _read(sent: _Sent) -> ReadDocument:
    try:
        return read_safely(sent.new.data, sent.media_type, encoding=sent.new.encoding)
    except Unreadable as error:
        raise Invalid(str(error), sent.new.field) from error


def _find_same(sent: _Sent, now: datetime) -> Ingested | None:
    """The document, if its content is known: then only title and metadata may be new. None otherwise."""
    with scope(sent.tenant_id):
        refuse_erased(tenant_id=sent.tenant_id, user_id=sent.user_id, since=now)
        querysets.lock(sent.lock)
        known = _known(sent)
        if known is None or (known.checksum, known.media_type) != (sent.checksum, sent.media_type):
            return None
        return _kept(known, _describe(known, sent, now))


def _store(sent: _Sent, read: ReadDocument, now: datetime) -> Ingested:
    with scope(sent.tenant_id):
        refuse_erased(tenant_id=sent.tenant_id, user_id=sent.user_id, since=now)
        querysets.lock(sent.lock)
        known = _known(sent)
        action: Action = "created" if known is None else "replaced"
        document = known or _unsaved(sent, now)
        document.title = sent.new.title or read.title or _name_of(sent)
        document.metadata = _metadata(sent, document.metadata)
        document.media_type, document.checksum = sent.media_type, sent.checksum
        document.size, document.chunk_count = len(sent.new.data), len(read.pieces)
        document.updated_at = now
        document.save(force_insert=known is None, force_update=known is not None)
        written = replace_chunks(document, read.pieces, now=now)
        if written:
            ask_for_vectors(now=now)
        transaction.on_commit(lambda: CHUNKS.inc(written))
        return _kept(document, action)


def _known(sent: _Sent) -> Document | None:
    """The same document, locked. One from before its user was erased, which the erasure has not come to
    yet, is deleted: nothing of it goes on."""
    same = Document.objects.select_for_update().filter(
        tenant_id=sent.tenant_id, project=sent.project, user_id=sent.user_id, source=sent.new.source
    )
    known = (same if sent.new.source else same.filter(checksum=sent.checksum)).first()
    if known is None or not sent.user_id:
        return known
    erased_at = last_erasures(tenant_id=sent.tenant_id, user_ids=[sent.user_id]).get(sent.user_id)
    if erased_at is not None and known.created_at <= erased_at:
        Document.objects.filter(tenant_id=sent.tenant_id, id=known.id).delete()
        return None
    return known


def _unsaved(sent: _Sent, now: datetime) -> Document:
    return Document(
        id=uuid7(),
        tenant_id=sent.tenant_id,
        project=sent.project,
        user_id=sent.user_id,
        source=sent.new.source,
        created_at=now,
    )


def _describe(known: Document, sent: _Sent, now: datetime) -> Action:
    """Gives a document of the same content its new title and metadata."""
    title, metadata = sent.new.title or known.title, _metadata(sent, known.metadata)
    if (title, metadata) == (known.title, known.metadata):
        return "unchanged"
    known.title, known.metadata, known.updated_at = title, metadata, now
    known.save(update_fields=["title", "metadata", "updated_at"])
    return "updated"


def _kept(document: Document, action: Action) -> Ingested:
    """In the open scope."""
    done = Ingested(action, shown([document])[0])
    if action != "unchanged":
        tell_document(document, Event.CREATED if action == "created" else Event.UPDATED)
    idempotency.keep(done, user_id=document.user_id)
    transaction.on_commit(DOCUMENTS.labels(action).inc)
    return done


def _metadata(sent: _Sent, known: Mapping[str, Any]) -> dict[str, Any]:
    return dict(known if sent.new.metadata is None else sent.new.metadata)


def _name_of(sent: _Sent) -> str:
    return (PurePath(sent.new.filename).stem or sent.new.source or "Untitled")[:LONGEST_TITLE]
