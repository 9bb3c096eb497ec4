"""Instruments of documents; docs/observability.md describes each."""

from prometheus_client import Counter

DOCUMENTS = Counter("documents_ingested", "Documents taken in, by what became of them.", ["action"])
CHUNKS = Counter(
    "chunks_ingested", "Chunks written for them; those that stayed as they were are not counted."
)
for _action in ("created", "replaced", "updated", "unchanged"):
    DOCUMENTS.labels(_action)  # so that the first one shows as a rise from 0
