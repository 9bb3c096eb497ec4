"""Documents for tests, taken in as a caller would."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.utils import timezone

from knowledge.embedding import EMBED
from knowledge.ingesting import ingest_document
from knowledge.models import Chunk, ChunkEmbedding
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter, Ingested, NewDocument
from tenants.caller import Caller
from tenants.jobs import runner
from tenants.models import Job
from tenants.scope import scope

FILLER = "The support team answers every ticket about billing within two working days of its arrival. "


def ingest(caller: Caller, text: str | bytes, *, now: Any = None, **more: Any) -> Ingested:
    data = text.encode() if isinstance(text, str) else text
    return ingest_document(caller=caller, new=NewDocument(data=data, **more), now=now or timezone.now())


def embed(caller: Caller) -> None:
    """Does the jobs of this tenant, those of others aside."""
    while True:
        with scope(caller.tenant_id):
            waiting = Job.objects.filter(tenant_id=caller.tenant_id, kind=EMBED, state="queued")
            if not waiting.update(run_at=timezone.now()):
                return
        runner.run_jobs(slow=True)


def search(caller: Caller, query: str, top_k: int = 5, **where: Any) -> list[str]:
    """The texts that were found."""
    hits = search_chunks(caller=caller, query=query, top_k=top_k, where=ChunkFilter(**where))
    return [hit.chunk.text for hit in hits]


def chunks(caller: Caller, document_id: UUID | None = None) -> list[Chunk]:
    with scope(caller.tenant_id):
        found = Chunk.objects.filter(tenant_id=caller.tenant_id)
        if document_id:
            found = found.filter(document_id=document_id)
        return list(found.order_by("document_id", "position"))


def vectors(caller: Caller) -> dict[UUID, ChunkEmbedding]:
    """By chunk."""
    with scope(caller.tenant_id):
        found = ChunkEmbedding.objects.filter(tenant_id=caller.tenant_id)
        return {one.chunk_id: one for one in found}


def sections(*topics: str) -> str:
    """Markdown with a section, and so a chunk, for each topic."""
    return "\n\n".join(f"## About {topic}\n\n{FILLER * 8}This section is about {topic}." for topic in topics)


def texts(found: Iterable[Chunk]) -> list[str]:
    return [one.text for one in found]
