"""What people leave behind, through every door there is, and what of it can still be seen."""

import json
import secrets
import zlib
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import Entity, EntityEmbedding, Episode, EpisodeRevision
from knowledge.models import Chunk, ChunkEmbedding, Document
from ledger.models import Feedback, WriteDecision
from tenants.jobs import runner
from tenants.models import Job, Tombstone
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.conftest import Member
from tests.isolation.tables import FACTORIES, TENANT_MODELS, store
from tests.observations.notes import embed, note
from working.models import Session


def live(member: Member, user: str, *, word: str = "sesame") -> None:
    """The person uses every door."""
    session = "/api/v1/sessions/talk"
    asked = {"user_id": user}
    memory = {"agent_id": "coder", "conversation_id": "talk", "user_id": user}
    sends: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/v1/sessions", {"session_id": "talk", "metadata": {"note": f"{word} metadata"}}),
        ("POST", f"{session}/turns", {"turns": [{"role": "user", "content": f"{word} turn"}]}),
        ("POST", f"{session}/events", {"event_type": "note", "content": {"deep": [f"{word} event"]}}),
        ("PUT", f"{session}/checkpoint", {"step": f"{word} checkpoint"}),
        ("PUT", "/working-memory/talk", {"data": {"scratchpad": f"{word} field"}}),
        ("POST", "/ledger/talk/mark", {"item_key": f"skill:{word}", "value": f"{word} mark"}),
        ("POST", "/ledger/talk/claim", {"item_key": f"rule:{word}", "value": f"{word} claim"}),
        ("POST", "/api/v1/episodes", {"text": f"{word} episode", "metadata": {"who": user}}),
        ("POST", "/episodic/store", {**memory, "summary": f"{word} aegis"}),
        ("POST", f"{session}/end", {}),
        ("POST", f"{session}/turns", {"turns": [{"role": "user", "content": f"{word} later turn"}]}),
    ]
    for number, (method, path, body) in enumerate(sends):
        named = {} if path == "/episodic/store" else asked
        headers = {"Idempotency-Key": f"{user.encode().hex()[:40]}-{number}"} if number % 2 else {}
        answer = member.http.request(method, path, params=named, json=body, headers=headers)
        assert answer.is_success, (path, answer.status_code, answer.text)
    for content in ("first", "observation"):  # the second time over the first
        note(
            member.caller,
            f"{word} {content}",
            session_id="talk",
            user_id=user,
            topic_key="topic",
            project="elsewhere",
        )
    embed(member.caller)
    member.with_key(user_id=user)
    _leave_rows(member.tenant.id, user)


def _leave_rows(tenant_id: UUID, user: str) -> None:
    """A row in each of the tables that the doors above do not fill."""
    for model in (WriteDecision, Feedback, Document, Chunk, ChunkEmbedding, Entity):
        row = FACTORIES[model](tenant_id)
        row.user_id = user
        store(row)
    revision = FACTORIES[EpisodeRevision](tenant_id)
    revision.episode_id = Episode.objects.using("admin").filter(tenant_id=tenant_id, user_id=user)[0].id
    revision.number = secrets.randbelow(2**30)
    vector = FACTORIES[EntityEmbedding](tenant_id)
    vector.entity_id = Entity.objects.using("admin").filter(tenant_id=tenant_id, user_id=user).latest("id").id
    for row in (revision, vector):
        row.user_id = user
        store(row)


WORDS = (
    "metadata",
    "turn",
    "event",
    "checkpoint",
    "field",
    "mark",
    "claim",
    "episode",
    "aegis",
    "first",
    "observation",
    "later turn",
)


def erase(member: Member, user: str) -> Tombstone:
    """From the request to the receipt."""
    job = begin_erasure(tenant_id=member.tenant.id, user_id=user, actor="test", now=timezone.now())
    run_jobs()
    with scope(member.tenant.id):
        assert Job.objects.get(id=job.id).state == "done", Job.objects.get(id=job.id).error
        return Tombstone.objects.filter(tenant_id=member.tenant.id).order_by("-erased_at", "-id")[0]


def run_jobs() -> None:
    """All that are due, those that other tests have left as well."""
    while runner.run_jobs(slow=False) or runner.run_jobs(slow=True):
        pass


def belongings(tenant_id: UUID, user: str) -> dict[str, list[Any]]:
    """Every row and key of one person, byte for byte."""
    rows: dict[str, list[Any]] = {}
    with scope(tenant_id):
        for model in TENANT_MODELS:
            names = {field.attname for field in model._meta.concrete_fields}
            if "tenant_id" in names and "user_id" in names and model.__name__ != "Member":
                found = model._default_manager.filter(tenant_id=tenant_id, user_id=user)
                rows[model.__name__] = [repr(row) for row in found.order_by("id").values()]
            if "session_id" in names:
                sessions = session_ids(tenant_id, user)
                found = model._default_manager.filter(tenant_id=tenant_id, session_id__in=sessions)
                rows[model.__name__] = [repr(row) for row in found.order_by("id").values()]
    rows["redis"] = sorted(
        key_dump(key) for key in redis_keys(tenant_id) if f"/{quote(user, safe='')}/" in key
    )
    return rows


def session_ids(tenant_id: UUID, user: str) -> list[UUID]:
    return list(Session.objects.filter(tenant_id=tenant_id, user_id=user).values_list("id", flat=True))


def redis_keys(tenant_id: UUID) -> list[str]:
    return sorted(get_redis_connection().scan_iter(f"*{tenant_id.hex}*", count=1_000))


def key_dump(key: str) -> str:
    redis = get_redis_connection()
    kind = redis.type(key)
    if kind == "hash":
        return f"{key} {sorted(redis.hgetall(key).items())}"
    return f"{key} {redis.lrange(key, 0, -1) if kind == 'list' else redis.get(key)}"


def lines(file: bytes) -> list[dict[str, Any]]:
    """The records of an export."""
    return [json.loads(line) for line in zlib.decompress(file, wbits=31).splitlines()]
