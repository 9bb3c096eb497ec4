"""Episodes as no dialect writes them: any field, without a model."""

from datetime import UTC, datetime, timedelta
from typing import Any

from episodic.indexing import entry_of
from episodic.models import Episode, EpisodeAccess, EpisodeWords
from tenants.caller import Caller
from tenants.scope import scope

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return BEGIN + timedelta(days=number)


def put(caller: Caller, *rows: dict[str, Any]) -> list[Episode]:
    """Each row with the columns it has; `last_accessed` is kept beside it."""
    rows = tuple({"created_at": BEGIN, "text": "a fact"} | row for row in rows)
    accesses = [row.pop("last_accessed", None) for row in rows]
    episodes = [Episode(tenant_id=caller.tenant_id, embed_pending=False, **row) for row in rows]
    used = [
        EpisodeAccess(id=one.id, tenant_id=one.tenant_id, user_id=one.user_id, agent_id=one.agent_id,
                      last_accessed_at=at)
        for one, at in zip(episodes, accesses, strict=True) if at is not None
    ]  # fmt: skip
    with scope(caller.tenant_id):
        Episode.objects.bulk_create(episodes)
        EpisodeWords.objects.bulk_create(map(entry_of, episodes))
        EpisodeAccess.objects.bulk_create(used)
    return episodes
