"""Making observations findable: by their words in the commit that writes them, by their meaning by a job."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet

from observations import querysets
from observations.lexemes import index_text, mark_of
from observations.models import Observation, ObservationEmbedding, SearchEntry
from tenants.jobs.queue import enqueue

EMBED = "observations.embed"


def index_observation(observation: Observation, *, now: datetime) -> None:
    """Has a live observation found by what it says now. In the scope that writes it, after the row."""
    _write_entry(observation)
    if observation.embed_pending:
        _embeddings(observation).delete()
        enqueue(EMBED, payload={}, now=now, dedup_key=EMBED)


def index_new(observations: Sequence[Observation], *, now: datetime) -> None:
    """Has live observations found that the open scope has inserted."""
    for one in observations:
        _write_entry(one)
    if observations:
        enqueue(EMBED, payload={}, now=now, dedup_key=EMBED)


def unindex_observation(observation: Observation) -> None:
    """Has it found no more. In the scope that trashes it."""
    _embeddings(observation).delete()
    SearchEntry.objects.filter(tenant_id=observation.tenant_id, id=observation.id).delete()


def _write_entry(observation: Observation) -> None:
    mark = mark_of(observation.tenant_id, querysets.corpus_of(observation))
    fields = [observation.title, observation.content, observation.topic_key, observation.type]
    querysets.write_entry(observation, index_text(fields, mark))


def _embeddings(observation: Observation) -> QuerySet[ObservationEmbedding]:
    return ObservationEmbedding.objects.filter(tenant_id=observation.tenant_id, observation_id=observation.id)
