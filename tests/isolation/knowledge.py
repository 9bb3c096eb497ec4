"""Rows of documents and procedures."""

import secrets
from uuid import UUID

import numpy as np
from django.utils import timezone

from knowledge.models import Chunk, ChunkEmbedding, Deployment, Document, Procedure
from tests.isolation.registry import factory, store


@factory(Document)
def document(tenant_id: UUID) -> Document:
    now = timezone.now()
    return Document(
        tenant_id=tenant_id,
        title="t",
        media_type="text/plain",
        checksum="0" * 64,
        size=1,
        created_at=now,
        updated_at=now,
    )


@factory(Chunk)
def chunk(tenant_id: UUID) -> Chunk:
    parent = store(document(tenant_id))
    return Chunk(
        tenant_id=tenant_id,
        document_id=parent.id,
        position=0,
        text="t",
        length=1,
        lexemes="'word':1",
        embed_pending=False,
        created_at=timezone.now(),
    )


@factory(ChunkEmbedding)
def chunk_embedding(tenant_id: UUID) -> ChunkEmbedding:
    parent = store(chunk(tenant_id))
    vector = np.zeros(4, dtype=np.float32)
    return ChunkEmbedding(tenant_id=tenant_id, chunk_id=parent.id, model="test", embedding=vector)


@factory(Procedure)
def procedure(tenant_id: UUID) -> Procedure:
    return Procedure(
        tenant_id=tenant_id,
        name=secrets.token_hex(8),
        version="1",
        body="b",
        checksum="0" * 64,
        created_by="test",
        created_at=timezone.now(),
    )


@factory(Deployment)
def deployment(tenant_id: UUID) -> Deployment:
    parent = store(procedure(tenant_id))
    return Deployment(
        tenant_id=tenant_id,
        environment="production",
        name=parent.name,
        procedure_id=parent.id,
        deployed_by="test",
        deployed_at=timezone.now(),
    )
