"""When an episode says what memory holds already: by the hash of its text."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from episodic.models import Episode

LOCK = "SELECT pg_advisory_xact_lock(k) FROM unnest(%s::bigint[]) k"

Memory = tuple[str, str, str, str]  # user, agent, project, namespace


def content_hash(text: str) -> str:
    """Hex SHA-256 of the text in lower case, without outer and with single white space."""
    return hashlib.sha256(" ".join(text.split()).lower().encode()).hexdigest()


def record_hash(episode: Episode) -> str:
    """Hex SHA-256 of what makes two records one: the text as it is, whose it is, its session, namespace and
    type, as JSON with sorted keys; null for what it has not."""
    named = {
        "text": episode.text,
        "user_id": episode.user_id or None,
        "session_id": episode.session or None,
        "namespace": episode.namespace or None,
        "memory_type": episode.memory_type,
    }
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def find_duplicate(
    *,
    tenant_id: UUID,
    text: str,
    user_id: str,
    agent_id: str = "",
    project: str = "",
    namespace: str = "",
    now: datetime,
) -> Episode | None:
    """The newest episode of the same user, agent, project and namespace that says the same and still holds.

    In the open scope. Two writers that must not both find nothing take `lock_memory` before.
    """
    same = Episode.objects.filter(
        Q(valid_to=None) | Q(valid_to__gt=now),
        tenant_id=tenant_id,
        user_id=user_id,
        content_hash=content_hash(text),
        agent_id=agent_id,
        project=project,
        namespace=namespace,
    )
    return same.order_by("-created_at", "-id").first()


def lock_memory(
    *, tenant_id: UUID, user_id: str, agent_id: str = "", project: str = "", namespace: str = ""
) -> None:
    """Waits, in the open scope, for whoever else writes what this memory holds: the look at what is there
    and the write that follows are then one step. Taken before any row is locked."""
    lock_memories(tenant_id, [(user_id, agent_id, project, namespace)])


def lock_memories(tenant_id: UUID, memories: Iterable[Memory]) -> None:
    """Likewise for several memories, one after the other; after the people."""
    keys = [_lock_of(tenant_id, one) for one in sorted(set(memories))]
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [keys])


def _lock_of(tenant_id: UUID, memory: Memory) -> int:
    name = "\x00".join(("episode", tenant_id.hex, *memory))
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
