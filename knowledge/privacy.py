"""What this app holds of a person: the documents that are the person's alone."""

from django.db.models import Q

from knowledge.models import Chunk, ChunkEmbedding, Document
from tenants.privacy.registry import Rows, Subject, register


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(
        Rows("chunk_embedding", ChunkEmbedding, _theirs, "created_at", exported=False),
        Rows(
            "chunk",
            Chunk,
            _theirs,
            "created_at",
            hidden=frozenset({"embed_pending", "lexemes", "length"}),
        ),
        Rows("document", Document, _theirs, "created_at"),
    )
