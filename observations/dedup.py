"""When two observations are one: by their topic, or by what they say."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from observations import querysets
from observations.models import Observation


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes an observation the same as another: its topic in project, scope and user, or its content in
    project and user. `digest` is the `normalized_hash` of the content; without a topic, it is empty."""

    tenant_id: UUID
    project: str
    scope: str
    user_id: str
    topic: str
    digest: str


def identity_of(observation: Observation) -> Identity:
    """The identity of a stored observation."""
    return Identity(
        tenant_id=observation.tenant_id,
        project=observation.project,
        scope=observation.scope,
        user_id=observation.user_id,
        topic=observation.topic_key,
        digest=observation.normalized_hash,
    )


def normalized_hash(content: str) -> str:
    """Hex SHA-256 of the content in lower case with white space collapsed (AgentOps contract, §1.4)."""
    return hashlib.sha256(" ".join(content.split()).lower().encode()).hexdigest()


def lock_identity(*several: Identity) -> None:
    """Waits, in the open scope, for whoever writes the same topic or the same content: the search for either
    and the write that follows are then one step. Several are locked at once: two that lock one after another
    could wait for each other."""
    keys = {_lock_of(one.tenant_id, "content", one.project, one.user_id, one.digest) for one in several}
    keys |= {
        _lock_of(one.tenant_id, "topic", one.project, one.scope, one.user_id, one.topic)
        for one in several
        if one.topic
    }
    querysets.lock(keys)


def find_topic(one: Identity) -> Observation | None:
    """The live observation of the topic, locked."""
    live = Observation.objects.select_for_update().filter(
        tenant_id=one.tenant_id,
        project=one.project,
        scope=one.scope,
        user_id=one.user_id,
        topic_key=one.topic,
        deleted_at=None,
    )
    return live.first() if one.topic else None


def find_duplicate(one: Identity, *, now: datetime) -> Observation | None:
    """The newest live observation that says the same and was made within `MEMORY_DEDUPE_WINDOW`, locked."""
    if not settings.MEMORY_DEDUPE_WINDOW:  # not even one whose writer's clock is ahead
        return None
    same = Observation.objects.select_for_update().filter(
        tenant_id=one.tenant_id,
        project=one.project,
        user_id=one.user_id,
        normalized_hash=one.digest,
        deleted_at=None,
        created_at__gt=now - timedelta(seconds=settings.MEMORY_DEDUPE_WINDOW),
    )
    return same.order_by("-created_at", "-id").first()


def _lock_of(tenant_id: UUID, *parts: str) -> int:
    name = "\x00".join((tenant_id.hex, *parts))
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
