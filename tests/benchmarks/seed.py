"""Tenants with keys, and episodes by the hundred thousand, written past the product for speed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from tests.benchmarks.words import copy_words

if TYPE_CHECKING:
    from episodic.models import Episode

TENANTS, USERS = 50, 20
AGENT = "support"
DIMENSIONS = 384
SUPPORT_CASE = Path(__file__).resolve().parents[2] / "memoryproject" / "replay" / "support_case.jsonl"
REAL_SHARE = 2_000  # this many episodes have a real text with its own vector; the rest point anywhere

EPISODES = (
    "COPY agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type, origin,"
    " text, topics, entities, outcome, metadata, created_at, embed_pending) FROM STDIN (FORMAT BINARY)"
)
EPISODE_TYPES = [
    "uuid",
    "uuid",
    *["varchar"] * 7,
    "text",
    "text[]",
    "text[]",
    "text",
    "jsonb",
    "timestamptz",
    "bool",
]
VECTORS = (
    "COPY episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding, created_at)"
    " FROM STDIN (FORMAT BINARY)"
)
VECTOR_TYPES = ["uuid", "uuid", "uuid", "varchar", "varchar", "varchar", "vector", "timestamptz"]


@dataclass(frozen=True, slots=True)
class Member:
    """A tenant with the text of an unbound key."""

    tenant_id: UUID
    key: str


def cast(home: Path) -> list[Member]:
    """The tenants, made once per folder."""
    from tenants.api_keys import create_api_key
    from tenants.tenancy import create_tenant

    kept = home / "cast.json"
    if not kept.exists():
        rows = []
        for number in range(TENANTS):
            tenant = create_tenant(slug=f"bench-{number}", name=f"Bench {number}", actor="bench")
            _key, text = create_api_key(tenant=tenant, actor="bench")
            rows.append([str(tenant.id), text])
        kept.write_text(json.dumps(rows))
    return [Member(UUID(tenant), key) for tenant, key in json.loads(kept.read_text())]


def seed_episodes(superuser_url: str, members: list[Member], count: int) -> None:
    """Exactly `count` episodes, dealt out over tenants and users in turn, as they would arrive."""
    with psycopg.connect(superuser_url) as connection:
        register_vector(connection)
        stored = "SELECT count(*) FROM agent_episodes WHERE agent_id = %s"
        found = connection.execute(stored, [AGENT]).fetchone()
        if found == (count,):
            return
        connection.execute("SET session_replication_role = replica")  # no triggers of foreign keys
        connection.execute("TRUNCATE agent_episodes, episode_embeddings CASCADE")
        ids = [uuid7() for _ in range(count)]
        texts = real_texts()
        start = datetime.now(UTC) - timedelta(days=60)
        with connection.cursor().copy(EPISODES) as copy:
            copy.set_types(EPISODE_TYPES)
            for number, identity in enumerate(ids):
                member, user = _place(number, members)
                copy.write_row(
                    (identity, member.tenant_id, "", user, AGENT, "", f"c{number % 5000}", "episodic",
                     "saved", _text(number, user, texts), [], [], "", Jsonb({}),
                     start + timedelta(seconds=number), False)
                )  # fmt: skip
        with connection.cursor().copy(VECTORS) as copy:
            copy.set_types(VECTOR_TYPES)
            for number, vector in enumerate(_vectors(texts, count)):
                member, user = _place(number, members)
                copy.write_row(
                    (uuid7(), member.tenant_id, ids[number], AGENT, user, "all-MiniLM-L6-v2", vector, start)
                )
        copy_words(connection, _episodes(ids, texts, members, start))
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) agent_episodes, episode_embeddings, episode_search")
        connection.execute("CHECKPOINT")


def _text(number: int, user: str, texts: list[str]) -> str:
    return texts[number % len(texts)] if number < REAL_SHARE else f"Episode {number} of {user}."


def _episodes(ids: list[UUID], texts: list[str], members: list[Member], start: datetime) -> Iterator[Episode]:
    from episodic.models import Episode

    for number, identity in enumerate(ids):
        member, user = _place(number, members)
        yield Episode(
            id=identity, tenant_id=member.tenant_id, user_id=user, agent_id=AGENT,
            session=f"c{number % 5000}", text=_text(number, user, texts),
            created_at=start + timedelta(seconds=number),
        )  # fmt: skip


def real_texts() -> list[str]:
    """What was said in the bundled support case."""
    lines = (json.loads(line) for line in SUPPORT_CASE.read_text().splitlines() if line.strip())
    return [line["text"] for line in lines if line["type"] == "turn"]


def user_name(number: int) -> str:
    return f"user-{number}"


def _place(number: int, members: list[Member]) -> tuple[Member, str]:
    return members[number % TENANTS], user_name(number // TENANTS % USERS)


def _vectors(texts: list[str], count: int) -> Iterator[NDArray[np.float32]]:
    from providers.embeddings import get_embedder

    real = get_embedder().embed(texts)
    random = np.random.default_rng(7)
    for number in range(count):
        if number < REAL_SHARE:
            yield real[number % len(texts)]
        else:
            vector = random.standard_normal(DIMENSIONS, dtype=np.float32)
            yield vector / np.linalg.norm(vector)
