"""Celery's door to episodes and slots."""

from celery import shared_task
from django.utils import timezone

from episodic.compacting import enqueue_compaction
from episodic.embedding import embed_pending
from episodic.entity_embedding import embed_pending_slots
from episodic.forgetting import enqueue_forgetting
from episodic.item_sweeping import sweep_items
from episodic.retention import enqueue_retention, every_tenant


@shared_task(name="episodic.embed_pending")
def embed_pending_episodes() -> int:
    """Embeds what could not be embedded when it was written; safe to run twice at once."""
    return embed_pending() + embed_pending_slots()


@shared_task(name="episodic.sweep_items")
def sweep_expired_items() -> int:
    """Deletes items of the store that have expired; safe to run twice at once."""
    return sweep_items(now=timezone.now())


@shared_task(name="episodic.retention", ignore_result=True)
def retain() -> None:
    """Records the jobs that delete what is too old, compact records, and forget what policy says; safe to
    run twice at once."""
    now, tenants = timezone.now(), every_tenant()
    for enqueue in (enqueue_retention, enqueue_compaction, enqueue_forgetting):
        enqueue(now=now, tenants=tenants)
