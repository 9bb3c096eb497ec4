"""What this app holds of a person: episodes and their embeddings."""

from django.db.models import Q

from episodic.models import Episode, EpisodeEmbedding
from tenants.privacy.registry import Rows, Subject, register


def _theirs(subject: Subject) -> Q:
    return Q(user_id=subject.user_id)


def _of_old_episodes(subject: Subject) -> Q:
    """By the episode's moment: one may have been embedded long after it was written."""
    old = Episode.objects.filter(_theirs(subject), tenant_id=subject.tenant_id, created_at__lte=subject.until)
    return _theirs(subject) & Q(episode_id__in=old.values("id"))


def register_handlers() -> None:
    """Called once the models are loaded."""
    register(
        # A vector is a reading of the text that is exported: by itself it tells the person nothing.
        Rows("embedding", EpisodeEmbedding, _of_old_episodes, "created_at", exported=False),
        Rows("episode", Episode, _theirs, "created_at", hidden=frozenset({"embed_pending"})),
    )
