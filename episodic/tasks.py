"""Celery's door to episodes and slots."""

from celery import shared_task
from django.utils import timezone

from episodic.embedding import embed_pending
from episodic.entity_embedding import embed_pending_slots
from episodic.retention import enqueue_retention


@shared_task(name="episodic.embed_pending")
def embed_pending_episodes() -> int:
    """Embeds what could not be embedded when it was written; safe to run twice at once."""
    return embed_pending() + embed_pending_slots()


@shared_task(name="episodic.retention", ignore_result=True)
def retain() -> None:
    """Records the jobs that delete what is too old; safe to run twice at once."""
    enqueue_retention(now=timezone.now())
