"""Celery's door to the episodes."""

from celery import shared_task

from episodic.embedding import embed_pending


@shared_task(name="episodic.embed_pending")
def embed_pending_episodes() -> int:
    """Embeds what could not be embedded when it was written; safe to run twice at once."""
    return embed_pending()
