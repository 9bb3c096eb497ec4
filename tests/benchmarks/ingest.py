"""Taking documents in: from the first request until every chunk is embedded, beside the floor of embedding
the same chunks in this process."""

import argparse
import time
from uuid import UUID

import httpx

from memoryproject.embedded import programs
from tests.benchmarks.notes import Language
from tests.benchmarks.stage import Stage
from tests.benchmarks.web import start_default

DOCUMENTS, SECTIONS = 40, 10
WORDS = 140  # of a section: one chunk
BATCH = 64  # as knowledge/embedding.py
PATIENCE = 600
PATH = "/api/v1/documents"


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Prints and returns chunks per second: stored, stored and embedded, and the floor."""
    from tenants.api_keys import create_api_key
    from tenants.models import Tenant
    from tenants.router import admin_role

    with admin_role():
        tenant = Tenant.objects.get(id=place.members[0].tenant_id)
    _key, key = create_api_key(tenant=tenant, actor="bench", scopes=("read", "ingest"))
    language = Language(time.time_ns() % 1_000)
    texts = [_document(language) for _ in range(5 if options.quick else DOCUMENTS)]
    web = start_default(place.environment, place.log)
    worker = programs.worker(log=place.home / "ingest.log", env=place.environment)
    worker.start()
    try:
        with httpx.Client(base_url=web.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
            _send(http, ["# Warm\n\nThe model is loaded by the first text."])
            chunks, stored, embedded = _send(http, texts)
    finally:
        worker.stop()
        web.stop()
    floor = _floor(place.members[0].tenant_id, chunks)
    figures = {"chunks": chunks, "stored": chunks / stored, "served": chunks / embedded, "floor": floor}
    print(
        f"ingest of {len(texts)} documents, {chunks} chunks: stored {figures['stored']:,.0f} chunks/s,"
        f" stored and embedded {figures['served']:,.1f} chunks/s; floor {floor:,.1f} chunks/s",
        flush=True,
    )
    return figures


def _document(language: Language) -> str:
    sections = (f"## {language.text(4)}\n\n{language.text(WORDS)}.\n\n" for _ in range(SECTIONS))
    return f"# {language.text(3)}\n\n{''.join(sections)}"


def _send(http: httpx.Client, texts: list[str]) -> tuple[int, float, float]:
    """The number of chunks, and the seconds until all are stored, and embedded."""
    begun, made = time.perf_counter(), []
    for text in texts:
        answer = http.post(PATH, json={"title": "Bench", "content": text, "media_type": "text/markdown"})
        made.append(answer.raise_for_status().json())
    stored = time.perf_counter() - begun
    for document in made:
        while (found := http.get(f"{PATH}/{document['id']}").json())["embedded"] < found["chunks"]:
            if time.perf_counter() - begun > PATIENCE:
                raise TimeoutError(f"not embedded within {PATIENCE} s")
            time.sleep(0.05)
    return sum(document["chunks"] for document in made), stored, time.perf_counter() - begun


def _floor(tenant_id: UUID, count: int) -> float:
    """Chunks a second that the model embeds, in the same batches."""
    from knowledge.embedding import text_of
    from knowledge.models import Chunk
    from providers.embeddings import get_embedder
    from tenants.scope import scope

    with scope(tenant_id):
        newest = Chunk.objects.filter(tenant_id=tenant_id).order_by("-id")[:count]
        texts = [text_of(chunk) for chunk in newest]
    get_embedder().embed(["warm"])
    begun = time.perf_counter()
    for at in range(0, len(texts), BATCH):
        get_embedder().embed(texts[at : at + BATCH])
    return len(texts) / (time.perf_counter() - begun)
