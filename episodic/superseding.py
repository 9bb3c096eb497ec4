"""A changed fact closes the old one: what held until now stays readable, and is recalled no more."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Least, Now
from numpy.typing import NDArray

from episodic.announcements import tell_closed
from episodic.contradiction import contradicts
from episodic.duplicates import lock_memory
from episodic.models import Episode, EpisodeEmbedding, EpisodeWords, Item, MemoryType
from episodic.querysets import nearest_facts
from tenants.embedding import model_behind
from tenants.scope import current_tenant

NEAREST = 10  # statements that are compared with a new one
# Cosine below which two sentences are not about the same. Low, for it is `contradicts` that decides, and
# short sentences that differ in a name are not much alike (`Ana is the project lead` / `Bob is …`: 0.48).
ALIKE = 0.4
WITHOUT_VECTOR = 50  # the newest ones that are compared as long as they, or the new one, have none


def supersede(episode: Episode, vector: NDArray[np.float32] | None) -> tuple[UUID, ...]:
    """Closes what a statement that is about to be stored contradicts, in the open scope; the ids.

    Only among the statements (`semantic`) of the same user, agent, project and namespace. One that began to
    hold before what contradicts it is closed itself, where that begins. Of several writers one comes after
    the other, so that two that contradict each other never both hold.
    """
    if episode.memory_type != MemoryType.SEMANTIC:
        return ()
    lock_memory(
        tenant_id=episode.tenant_id,
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project=episode.project,
        namespace=episode.namespace,
    )
    against = [one for one in _candidates(episode, vector) if contradicts(one.text, episode.text)]
    later = [one for one in against if _begin(one) > _begin(episode)]
    if later:
        first = min(later, key=_begin)
        episode.valid_to, episode.superseded_by = _begin(first), first.id
    earlier = [one.id for one in against if one not in later]
    close(
        Episode.objects.filter(tenant_id=episode.tenant_id, id__in=earlier), at=_begin(episode), by=episode.id
    )
    return tuple(earlier)


def close(episodes: QuerySet[Episode], *, at: datetime, by: UUID | None = None) -> int:
    """Ends the validity of those that still hold, in the open scope; how many. From `at` on they are history,
    and not later than now by PostgreSQL's clock, by which reads go."""
    tenant_id, end = current_tenant(), Least(Value(at, DateTimeField()), Now())
    ids = list(episodes.filter(Q(valid_to=None) | Q(valid_to__gt=at)).values_list("id", flat=True))
    if not ids:
        return 0
    # First the episodes: whoever stores their vectors holds them locked, and is waited for.
    closed = Episode.objects.filter(tenant_id=tenant_id, id__in=ids).update(
        valid_to=end, superseded_by=by, version=F("version") + 1
    )
    EpisodeEmbedding.objects.filter(tenant_id=tenant_id, episode_id__in=ids).update(valid_to=end)
    EpisodeWords.objects.filter(tenant_id=tenant_id, id__in=ids).update(valid_to=end)
    Item.objects.filter(tenant_id=tenant_id, id__in=ids).update(valid_to=end)
    tell_closed(tenant_id=tenant_id, ids=ids)
    return closed


def _begin(episode: Episode) -> datetime:
    return episode.valid_from or episode.created_at


def _candidates(episode: Episode, vector: NDArray[np.float32] | None) -> Iterable[Episode]:
    """The nearest by meaning; of those without a vector, the newest."""
    facts = Episode.objects.filter(
        tenant_id=episode.tenant_id,
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project=episode.project,
        namespace=episode.namespace,
        memory_type=MemoryType.SEMANTIC,
        valid_to=None,
    )
    if vector is None:
        return facts.order_by("-created_at")[:WITHOUT_VECTOR]
    model = model_behind(vector, tenant_id=episode.tenant_id)
    near = nearest_facts(like=episode, model=model, query=vector, limit=NEAREST)
    alike = [episode_id for episode_id, cosine in near.items() if cosine >= ALIKE]
    waiting = facts.filter(embed_pending=True).order_by("-created_at")[:WITHOUT_VECTOR]
    return [*facts.filter(id__in=alike), *waiting]
