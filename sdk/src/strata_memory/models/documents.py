# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `documents` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class ChunkSignals(Answer):
    """Part of `FoundChunk`."""

    bm25: float
    cosine: float


class Document(Answer):
    """What `documents.get` answers."""

    id: str
    title: str
    source: str | None
    media_type: str
    project: str | None
    """Null: for every project."""
    user_id: str | None
    """Null: of all."""
    checksum: str
    """SHA-256 of what was sent, in hex."""
    size: int
    """Bytes of it."""
    chunks: int
    embedded: int
    """Chunks that are found by their meaning, too."""
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class IngestedDocument(Answer):
    """What `documents.create` answers."""

    id: str
    title: str
    source: str | None
    media_type: str
    project: str | None
    """Null: for every project."""
    user_id: str | None
    """Null: of all."""
    checksum: str
    """SHA-256 of what was sent, in hex."""
    size: int
    """Bytes of it."""
    chunks: int
    embedded: int
    """Chunks that are found by their meaning, too."""
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    status: str


class DocumentPage(Answer):
    """A page of `Document`; with `next` as `cursor` comes the one behind it."""

    results: list[Document]
    next: str | None


class FoundChunk(Answer):
    """Part of `FoundChunks`."""

    id: str
    document_id: str
    title: str
    """Of the document."""
    source: str | None
    """Of it."""
    position: int
    """0, 1, 2 … in the document."""
    heading: str | None
    """The headings that it stands under."""
    page: int | None
    """Of a PDF: where it stands."""
    text: str
    score: float
    """0 to 1, not relative to the other results."""
    signals: ChunkSignals


class FoundChunks(Answer):
    """What `documents.search` answers."""

    results: list[FoundChunk]
