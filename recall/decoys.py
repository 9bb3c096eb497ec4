"""The memories that the isolation self-test reaches for: one of each kind.

Rows alone: what saving them causes besides is left out, such as a job that everybody else who causes it would
have to wait for until the rehearsal is over.
"""

from episodic.embedding import vector_of
from episodic.entity_embedding import keep_vector
from episodic.indexing import entry_of
from episodic.models import Entity, Episode
from knowledge.chunks import replace_chunks
from knowledge.models import Document
from knowledge.reading.chunking import Piece
from ledger.models import Injection
from observations.dedup import normalized_hash
from observations.indexing import index_observation
from observations.models import Observation, ObservationEmbedding
from observations.querysets import corpus_of
from tenants.embedding import model_behind
from tenants.walls.stage import Planted

SLOT = "keeps.ladder"


def plant(planted: Planted) -> None:
    """In the open rehearsal, acting as that tenant."""
    things = planted.things
    things["episode"] = str(_episode(planted).id)
    things["slot"] = str(_slot(planted).id)
    things["observation"] = str(_observation(planted).id)
    things["document"] = str(_document(planted).id)
    things["injection"] = str(_injection(planted).id)


def _episode(planted: Planted) -> Episode:
    episode = Episode(
        tenant_id=planted.tenant_id, user_id=planted.user_id, project=planted.project, text=planted.text,
        session=planted.session_id, created_at=planted.now,
    )  # fmt: skip
    episode.embed_pending = planted.vector is None
    episode.save(force_insert=True)
    entry_of(episode).save(force_insert=True)
    if planted.vector is not None:
        vector_of(episode, planted.vector).save(force_insert=True)
    return episode


def _slot(planted: Planted) -> Entity:
    now = planted.now
    slot = Entity(
        tenant_id=planted.tenant_id, user_id=planted.user_id, key=SLOT, value=planted.text, confidence=1,
        valid_from=now, created_at=now, updated_at=now, embed_pending=planted.vector is None,
    )  # fmt: skip
    slot.save(force_insert=True)
    if planted.vector is not None:
        keep_vector(slot, planted.vector)
    return slot


def _observation(planted: Planted) -> Observation:
    now = planted.now
    observation = Observation(
        tenant_id=planted.tenant_id, user_id=planted.user_id, project=planted.project, type="discovery",
        session=planted.session_id, title=planted.query, content=planted.text, created_at=now, updated_at=now,
        normalized_hash=normalized_hash(planted.text), embed_pending=False,
    )  # fmt: skip
    observation.save(force_insert=True)
    index_observation(observation, now=now)
    if planted.vector is not None:
        ObservationEmbedding.objects.create(
            tenant_id=planted.tenant_id, observation_id=observation.id, corpus=corpus_of(observation),
            user_id=observation.user_id, embedding=planted.vector,
            model=model_behind(planted.vector, tenant_id=planted.tenant_id),
        )  # fmt: skip
    return observation


def _document(planted: Planted) -> Document:
    now = planted.now
    document = Document(
        tenant_id=planted.tenant_id, project=planted.project, title=planted.text, media_type="text/plain",
        checksum=normalized_hash(planted.text), size=1, chunk_count=1, created_at=now, updated_at=now,
    )  # fmt: skip
    document.save(force_insert=True)
    replace_chunks(document, [Piece(planted.text)], now=now)
    return document


def _injection(planted: Planted) -> Injection:
    injection = Injection(
        tenant_id=planted.tenant_id, user_id=planted.user_id, session=planted.session_id,
        item_key=f"episode:{planted.own}", value=planted.text, marked_at=planted.now,
    )  # fmt: skip
    injection.save(force_insert=True)
    return injection
