"""The chunks of a document: what stays as it was keeps its vector."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from uuid_utils.compat import uuid7

from knowledge import querysets
from knowledge.keyword import mark
from knowledge.models import Chunk, Document
from knowledge.querysets import NewChunk
from knowledge.reading.chunking import Piece
from lexical.tsvector import index_text


def replace_chunks(document: Document, pieces: Sequence[Piece], *, now: datetime) -> int:
    """Makes the pieces the document's chunks, in the open scope; how many were written. A chunk that says the
    same under the same headings stays, wherever it stands now."""
    staying = _by_words(document)
    new: list[NewChunk] = []
    moved = []
    first = mark(document.tenant_id)
    for position, piece in enumerate(pieces):
        same = staying.get((piece.heading, piece.text))
        if same:
            known = same.pop()
            if (known.position, known.page) != (position, piece.page):
                moved.append((known.id, position, piece.page))
        else:
            text = index_text([piece.heading, piece.text], first)
            new.append(NewChunk(uuid7(), position, piece.heading, piece.text, piece.page, text))
    gone = [one.id for same in staying.values() for one in same]
    Chunk.objects.filter(tenant_id=document.tenant_id, id__in=gone).delete()
    querysets.move_chunks(document.tenant_id, moved)
    querysets.insert_chunks(document, new, now=now)
    return len(new)


def _by_words(document: Document) -> dict[tuple[str, str], list[Chunk]]:
    """What there is, by what it says; of several that say the same, the first is the last of the list."""
    found: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    rows = Chunk.objects.filter(tenant_id=document.tenant_id, document_id=document.id)
    for chunk in rows.defer("lexemes").order_by("-position"):
        found[chunk.heading, chunk.text].append(chunk)
    return found
