"""When an episode says what memory holds already: by the hash of its text."""

import hashlib
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from episodic.models import Episode

LOCK = "SELECT pg_advisory_xact_lock(%s)"


def content_hash(text: str) -> str:
    """Hex SHA-256 of the text in lower case, without outer and with single white space."""
    return hashlib.sha256(" ".join(text.split()).lower().encode()).hexdigest()


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
    name = "\x00".join(("episode", tenant_id.hex, user_id, agent_id, project, namespace))
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [key])
