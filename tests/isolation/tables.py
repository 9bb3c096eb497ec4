"""Every tenant table, found through the models, and how to fill a row of each.

A table without a factory here fails the suite: nobody can add one and forget to prove that it is walled.
"""

import secrets
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connections
from django.db.models import Model
from django.utils import timezone

from episodic.indexing import entry_of
from episodic.models import Entity, EntityEmbedding, Episode, EpisodeEmbedding, EpisodeRevision, EpisodeWords
from knowledge.models import Chunk, ChunkEmbedding, Deployment, Document, Procedure
from ledger.models import Feedback, Injection, SlotRemoval, WriteDecision
from observations.models import (
    Observation,
    ObservationEmbedding,
    ObservationRevision,
    SearchEntry,
)
from tenants.models import (
    Agent,
    ApiKey,
    AuditEntry,
    ExportChunk,
    Job,
    Member,
    PolicyVersion,
    ProviderUsage,
    StoredAnswer,
    Tenant,
    Tombstone,
)
from working.models import Checkpoint, Event, Session


def is_tenant_model(model: type[Model]) -> bool:
    return model is Tenant or any(field.attname == "tenant_id" for field in model._meta.local_concrete_fields)


TENANT_MODELS = [
    model
    for model in apps.get_models(include_auto_created=True)
    if is_tenant_model(model) and model._meta.managed
]
TABLES = {model._meta.db_table: model for model in TENANT_MODELS}

FACTORIES: dict[type[Model], Callable[[UUID], Model]] = {}


def factory(model: type[Model]) -> Callable[[Callable[[UUID], Model]], Callable[[UUID], Model]]:
    """Registers what makes an unsaved row of `model` for a tenant, and stores the rows it points to."""

    def register(make: Callable[[UUID], Model]) -> Callable[[UUID], Model]:
        FACTORIES[model] = make
        return make

    return register


def store(row: Model) -> Any:
    """Saves a row as the admin role, whose policy knows no tenant."""
    row.save(using="admin", force_insert=True)
    return row


def column_values(row: Model) -> dict[str, Any]:
    """Column names and the values PostgreSQL takes for them."""
    connection = connections["admin"]
    return {
        field.column: field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for field in row._meta.local_concrete_fields
        if not field.generated
    }


def tenant_column(table: str) -> str:
    return "id" if table == "tenants_tenant" else "tenant_id"


@factory(Tenant)
def tenant(tenant_id: UUID) -> Tenant:
    """A stand-in for the tenant's own row, which exists already; only its INSERT is ever tried."""
    return Tenant(id=tenant_id, slug=f"copy-{secrets.token_hex(4)}", name="copy")


@factory(ApiKey)
def api_key(tenant_id: UUID) -> ApiKey:
    return ApiKey(tenant_id=tenant_id, key_id=secrets.token_hex(8), secret_hash="0" * 64, scopes=["read"])


@factory(AuditEntry)
def audit_entry(tenant_id: UUID) -> AuditEntry:
    return AuditEntry(tenant_id=tenant_id, actor="test", action="test.happen")


@factory(Session)
def session(tenant_id: UUID) -> Session:
    now = timezone.now()
    return Session(
        tenant_id=tenant_id,
        external_id=secrets.token_hex(4),
        started_at=now,
        opened_at=now,
        last_activity_at=now,
    )


@factory(Event)
def event(tenant_id: UUID) -> Event:
    parent = store(session(tenant_id))
    return Event(
        tenant_id=tenant_id, session_id=parent.id, seq=1, event_type="turn", created_at=timezone.now()
    )


@factory(Injection)
def injection(tenant_id: UUID) -> Injection:
    key = f"skill:{secrets.token_hex(4)}"
    return Injection(tenant_id=tenant_id, session="s", item_key=key, value="v", marked_at=timezone.now())


@factory(Episode)
def episode(tenant_id: UUID) -> Episode:
    return Episode(tenant_id=tenant_id, text="what happened", created_at=timezone.now(), embed_pending=False)


@factory(EpisodeEmbedding)
def episode_embedding(tenant_id: UUID) -> EpisodeEmbedding:
    parent = store(episode(tenant_id))
    vector = np.zeros(4, dtype=np.float32)
    return EpisodeEmbedding(tenant_id=tenant_id, episode_id=parent.id, model="test", embedding=vector)


@factory(EpisodeWords)
def episode_words(tenant_id: UUID) -> EpisodeWords:
    return entry_of(store(episode(tenant_id)))


@factory(Checkpoint)
def checkpoint(tenant_id: UUID) -> Checkpoint:
    parent = store(session(tenant_id))
    return Checkpoint(
        tenant_id=tenant_id, session_id=parent.id, version=1, value="{}", updated_at=timezone.now()
    )


@factory(Member)
def member(tenant_id: UUID) -> Member:
    return Member(tenant_id=tenant_id, user=store(User(username=secrets.token_hex(8))), role="viewer")


@factory(PolicyVersion)
def policy_version(tenant_id: UUID) -> PolicyVersion:
    version = secrets.randbelow(2**30)
    return PolicyVersion(tenant_id=tenant_id, version=version, document={}, author="test")


@factory(Observation)
def observation(tenant_id: UUID) -> Observation:
    now = timezone.now()
    return Observation(
        id=secrets.randbelow(2**40) + 2**40,
        tenant_id=tenant_id,
        project="walls",
        type="decision",
        title="t",
        content="c",
        normalized_hash="0" * 64,
        created_at=now,
        updated_at=now,
    )


@factory(ObservationRevision)
def observation_revision(tenant_id: UUID) -> ObservationRevision:
    parent = store(observation(tenant_id))
    return ObservationRevision(
        tenant_id=tenant_id,
        observation_id=parent.id,
        number=1,
        type="decision",
        title="t",
        content="c",
        replaced_at=timezone.now(),
        replaced_by="test",
    )


@factory(SearchEntry)
def search_entry(tenant_id: UUID) -> SearchEntry:
    parent = store(observation(tenant_id))
    return SearchEntry(
        id=parent.id,
        tenant_id=tenant_id,
        corpus="walls",
        scope="project",
        type="decision",
        created_at=parent.created_at,
        length=1,
        lexemes="'word':1",
    )


@factory(ObservationEmbedding)
def observation_embedding(tenant_id: UUID) -> ObservationEmbedding:
    parent = store(observation(tenant_id))
    return ObservationEmbedding(
        tenant_id=tenant_id,
        observation_id=parent.id,
        corpus="walls",
        model="test",
        embedding=np.zeros(3, np.float32),
    )


@factory(Agent)
def agent(tenant_id: UUID) -> Agent:
    now, name = timezone.now(), secrets.token_hex(4)
    return Agent(tenant_id=tenant_id, name=name, project=name, spec={}, created_at=now, updated_at=now)


@factory(Job)
def job(tenant_id: UUID) -> Job:
    now = timezone.now()
    return Job(tenant_id=tenant_id, kind="test", max_attempts=1, run_at=now, created_at=now)


@factory(StoredAnswer)
def stored_answer(tenant_id: UUID) -> StoredAnswer:
    return StoredAnswer(
        tenant_id=tenant_id,
        principal="test",
        key=secrets.token_hex(8),
        digest="0" * 64,
        status=200,
        body="{}",
        created_at=timezone.now(),
    )


@factory(Tombstone)
def tombstone(tenant_id: UUID) -> Tombstone:
    return Tombstone(tenant_id=tenant_id, subject="0" * 64, erased_at=timezone.now(), requested_by="test")


@factory(ExportChunk)
def export_chunk(tenant_id: UUID) -> ExportChunk:
    parent = store(job(tenant_id))
    return ExportChunk(tenant_id=tenant_id, job_id=parent.id, number=1, data=b"x")


@factory(ProviderUsage)
def provider_usage(tenant_id: UUID) -> ProviderUsage:
    return ProviderUsage(
        tenant_id=tenant_id,
        day=timezone.now().date(),
        provider="openai",
        model=secrets.token_hex(8),
        purpose="embed",
    )


@factory(EpisodeRevision)
def episode_revision(tenant_id: UUID) -> EpisodeRevision:
    parent = store(episode(tenant_id))
    return EpisodeRevision(
        tenant_id=tenant_id,
        episode_id=parent.id,
        number=1,
        text="t",
        replaced_at=timezone.now(),
        replaced_by="test",
    )


@factory(Entity)
def entity(tenant_id: UUID) -> Entity:
    now = timezone.now()
    return Entity(
        tenant_id=tenant_id,
        user_id="someone",
        key=secrets.token_hex(8),
        value="v",
        confidence=1,
        valid_from=now,
        created_at=now,
        updated_at=now,
        embed_pending=False,
    )


@factory(EntityEmbedding)
def entity_embedding(tenant_id: UUID) -> EntityEmbedding:
    parent = store(entity(tenant_id))
    vector = np.zeros(4, dtype=np.float32)
    return EntityEmbedding(
        tenant_id=tenant_id, entity_id=parent.id, user_id="someone", model="test", embedding=vector
    )


@factory(WriteDecision)
def write_decision(tenant_id: UUID) -> WriteDecision:
    return WriteDecision(
        tenant_id=tenant_id, kind="entity", outcome="skipped", reason="policy", created_at=timezone.now()
    )


@factory(SlotRemoval)
def slot_removal(tenant_id: UUID) -> SlotRemoval:
    return SlotRemoval(
        tenant_id=tenant_id, subject="0" * 64, slot=secrets.token_hex(32), removed_at=timezone.now()
    )


@factory(Feedback)
def feedback(tenant_id: UUID) -> Feedback:
    return Feedback(
        tenant_id=tenant_id,
        kind="episode",
        memory_id=secrets.token_hex(8),
        verdict="helpful",
        judge="test",
        created_at=timezone.now(),
    )


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
