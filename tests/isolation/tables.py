"""Every tenant table, found through the models, and how to fill a row of each.

A table without a factory here fails the suite: nobody can add one and forget to prove that it is walled.
"""

import secrets
from uuid import UUID

import numpy as np
from django.utils import timezone

from episodic.indexing import entry_of
from episodic.models import (
    Entity,
    EntityEmbedding,
    Episode,
    EpisodeAccess,
    EpisodeEmbedding,
    EpisodeRevision,
    EpisodeWords,
)
from ledger.models import EvaluationQuery, Feedback, Injection, SlotRemoval, WriteDecision
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
    PolicyVersion,
    ProviderUsage,
    StoredAnswer,
    Tenant,
    TenantEmbedding,
    Tombstone,
)
from tests.isolation import (  # noqa: F401  they register
    knowledge,
    link_revocations,
    members,
    restrictions,
    store_items,
    summaries,
    webhooks,
)
from tests.isolation.recalls import recall_hour
from tests.isolation.registry import (
    FACTORIES,
    TABLES,
    TENANT_MODELS,
    column_values,
    factory,
    is_tenant_model,
    store,
    tenant_column,
)
from working.models import Checkpoint, Event, Session, SessionState

__all__ = [
    "FACTORIES",
    "TABLES",
    "TENANT_MODELS",
    "column_values",
    "factory",
    "is_tenant_model",
    "recall_hour",
    "store",
    "tenant_column",
]


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


@factory(EpisodeAccess)
def episode_access(tenant_id: UUID) -> EpisodeAccess:
    parent = store(episode(tenant_id))
    return EpisodeAccess(id=parent.id, tenant_id=tenant_id, last_accessed_at=timezone.now())


@factory(Checkpoint)
def checkpoint(tenant_id: UUID) -> Checkpoint:
    parent = store(session(tenant_id))
    return Checkpoint(
        tenant_id=tenant_id, session_id=parent.id, version=1, value="{}", updated_at=timezone.now()
    )


@factory(SessionState)
def session_state(tenant_id: UUID) -> SessionState:
    parent, now = store(session(tenant_id)), timezone.now()
    return SessionState(tenant_id=tenant_id, session_id=parent.id, created_at=now, updated_at=now)


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


@factory(TenantEmbedding)
def tenant_embedding(tenant_id: UUID) -> TenantEmbedding:
    return TenantEmbedding(tenant_id=tenant_id, model="a model", changed_at=timezone.now())


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


@factory(EvaluationQuery)
def evaluation_query(tenant_id: UUID) -> EvaluationQuery:
    return EvaluationQuery(
        tenant_id=tenant_id, user_id="u", text="t", source="saved", created_at=timezone.now()
    )
