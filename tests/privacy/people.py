"""What people leave behind, through every door there is, and what of it can still be seen."""

import io
import json
import secrets
import zipfile
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import (
    Entity,
    EntityEmbedding,
    Episode,
    EpisodeAccess,
    EpisodeRevision,
    SummaryPartition,
    SummaryRun,
    SummaryView,
)
from knowledge.models import Chunk, ChunkEmbedding, Document
from ledger.models import EvaluationQuery, Feedback, WriteDecision
from tenants.jobs import runner
from tenants.models import Job, Tombstone
from tenants.privacy.erasure import begin_erasure
from tenants.privacy.export import export_file
from tenants.scope import scope
from tests.conftest import Member
from tests.isolation.tables import FACTORIES, TENANT_MODELS, store
from tests.observations.notes import embed, note
from tests.working.conversation import EARLY
from working.models import Session
from working.types import GivenWorkspace, SessionAddress
from working.workspace_writing import put_workspace

# No door that people use fills these.
UNFILLED = (
    WriteDecision,
    Feedback,
    EvaluationQuery,
    Document,
    Chunk,
    ChunkEmbedding,
    Entity,
    SummaryView,
    SummaryPartition,
    SummaryRun,
)


def live(member: Member, user: str, *, word: str = "sesame") -> None:
    """The person uses every door."""
    session = "/api/v1/sessions/talk"
    asked = {"user_id": user}
    memory = {"agent_id": "coder", "conversation_id": "talk", "user_id": user}
    item = {"namespace": ["notes"], "key": "tea", "value": {"text": f"{word} item"}, "user_id": user}
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
        ("PUT", "/api/v1/store/items", item | {"vectors": [{"path": "text", "vector": [1.0, 0.5]}]}),
        ("POST", f"{session}/end", {}),
        ("POST", f"{session}/turns", {"turns": [{"role": "user", "content": f"{word} later turn"}]}),
    ]
    for number, (method, path, body) in enumerate(sends):
        named = {} if "user_id" in body else asked
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
    _keep_with_session(member, user, word)
    embed(member.caller)
    member.with_key(user_id=user)
    _leave_rows(member.tenant.id, user)


def _keep_with_session(member: Member, user: str, word: str) -> None:
    """As a client does it that sends the session as a whole, and has read nothing of it."""
    given = GivenWorkspace(memories=({"id": "r", "text": f"{word} record"},), updated_at=EARLY)
    put_workspace(
        caller=member.caller,
        address=SessionAddress("talk", user),
        given=given,
        now=timezone.now(),
        also=lambda written, workspace: None,
    )


def _leave_rows(tenant_id: UUID, user: str) -> None:
    """A row in each of the tables that the doors above do not fill."""
    for model in UNFILLED:
        row = FACTORIES[model](tenant_id)
        row.user_id = user
        store(row)
    revision = FACTORIES[EpisodeRevision](tenant_id)
    revision.episode_id = Episode.objects.using("admin").filter(tenant_id=tenant_id, user_id=user)[0].id
    revision.number = secrets.randbelow(2**30)
    vector = FACTORIES[EntityEmbedding](tenant_id)
    vector.entity_id = Entity.objects.using("admin").filter(tenant_id=tenant_id, user_id=user).latest("id").id
    access = FACTORIES[EpisodeAccess](tenant_id)
    access.id = Episode.objects.using("admin").filter(tenant_id=tenant_id, user_id=user).latest("id").id
    for row in (revision, vector, access):
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
    "record",
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


def export(member: Member, user: str) -> list[dict[str, Any]]:
    """The records of an export that was made just now."""
    now = timezone.now()
    return lines(b"".join(export_file(tenant_id=member.tenant.id, user_id=user, actor="test", now=now)))


def lines(file: bytes) -> list[dict[str, Any]]:
    """The records of an export."""
    return [json.loads(line) for line in member_of(file, "memories.jsonl").splitlines()]


def member_of(file: bytes, name: str) -> bytes:
    """What an export has under that name."""
    return zipfile.ZipFile(io.BytesIO(file)).read(name)
