"""Values that pass between documents, procedures and their callers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from knowledge.models import Chunk, Document, Procedure

Action = Literal["created", "replaced", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """What a caller gives. Without a title, it is the document's own, else the file's name; `metadata` that
    is None stays as it is when the document is known. `field` is what a refusal names."""

    data: bytes
    title: str = ""
    source: str = ""
    media_type: str = ""
    encoding: str = ""  # of a page that may name another one itself
    filename: str = ""
    project: str | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    field: str = "content"


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document, and of how many of its chunks there is a vector."""

    document: Document
    embedded: int


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a document that was sent."""

    action: Action
    shown: ShownDocument


@dataclass(frozen=True, slots=True)
class Reach:
    """Whose documents are meant. None: anybody's. A project's and a user's include those of none."""

    tenant_id: UUID
    project: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Which documents are searched. None: any. `metadata`: what theirs has to hold."""

    project: str | None = None
    user_id: str | None = None
    source: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names_documents(self) -> bool:
        """Whether more than project and user is asked for."""
        return self.source is not None or self.title is not None or bool(self.metadata)


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk with its document, how well it answers (0 to 1, not relative to other hits), and why."""

    chunk: Chunk
    document: Document
    score: float
    signals: Mapping[str, float]

    @property
    def page_name(self) -> str:
        """The page that it stands on, for people; empty where there are none."""
        return f"page {self.chunk.page}" if self.chunk.page else ""


@dataclass(frozen=True, slots=True)
class ProcedureText:
    """A version of a procedure as its file has it. `origin`: which file, for refusals."""

    name: str
    version: str
    body: str
    checksum: str
    metadata: Mapping[str, Any]
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a deployment did, or would do. `created`: the version is new; `deployed`: it is not, but the
    environment did not run it; `unchanged`: it did. `before`: the version that it ran until then."""

    procedure: Procedure
    environment: str
    outcome: Literal["created", "deployed", "unchanged"]
    before: str = ""
