"""What this app holds of a person: episodes, entity slots, and their embeddings."""

from django.db.models import Q

from episodic.models import Entity, EntityEmbedding, Episode, EpisodeEmbedding, EpisodeRevision, EpisodeWords
from tenants.privacy.registry import Rows, Subject, register


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _of_old_episodes(subject: Subject) -> Q:
    """By the episode's moment: one may have been embedded long after it was written."""
    old = Episode.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(episode_id__in=old.values("id"))


def _of_old_slots(subject: Subject) -> Q:
    old = Entity.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(entity_id__in=old.values("id"))


def register_handlers() -> None:
    """Called once the models are loaded."""
    hidden = frozenset({"embed_pending", "content_hash"})
    register(
        # A vector is a reading of the text that is exported: by itself it tells the person nothing.
        Rows("embedding", EpisodeEmbedding, _of_old_episodes, "created_at", exported=False),
        Rows("episode_words", EpisodeWords, _theirs, "created_at", exported=False),
        Rows("entity_embedding", EntityEmbedding, _of_old_slots, "created_at", exported=False),
        Rows("entity", Entity, _theirs, "created_at", hidden=frozenset({"embed_pending"})),
        Rows("episode_revision", EpisodeRevision, _of_old_episodes, "replaced_at"),
        Rows("episode", Episode, _theirs, "created_at", hidden=hidden),
    )
