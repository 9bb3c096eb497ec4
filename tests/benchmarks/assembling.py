"""The messages of a turn, for a user about whom much is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from tests.benchmarks import exact
from tests.benchmarks.floors import Call
from tests.benchmarks.load import Request
from tests.benchmarks.seed import AGENT, EPISODE_TYPES, EPISODES, VECTOR_TYPES, VECTORS, Member, real_texts
from tests.benchmarks.stage import Stage
from tests.benchmarks.words import copy_words

if TYPE_CHECKING:
    from episodic.models import Episode

USER, KNOWN, SLOTS, SESSIONS = "well-known", 2_000, 50, 16
MODEL = "all-MiniLM-L6-v2"
QUERIES = (
    "what did the customer say about the invoice",
    "why was the delivery late again",
    "which address should the replacement go to",
    "how did we solve the login problem",
)
ASKED, ANSWERED = "Could you check why my last order has not arrived yet?", "It left the depot today."
TURNS = [("user", ASKED), ("assistant", ANSWERED)] * 8


def prepare(stage: Stage) -> list[Request]:
    """The user's episodes, written past the product; slots and conversations, through it."""
    member = stage.members[0]
    _seed(stage.superuser_url, member)
    slots = [
        Request("PUT", f"/api/v1/entities/{USER}/slot_{number}", member.key, {"value": f"value {number}"})
        for number in range(SLOTS)
    ]
    turns = [{"role": role, "content": text} for role, text in TURNS]
    talks = [
        Request(
            "POST", f"/api/v1/sessions/talk-{number}/turns", member.key, {"user_id": USER, "turns": turns}
        )
        for number in range(SESSIONS)
    ]
    return [*slots, *talks]


def requests(stage: Stage) -> list[Request]:
    """Everything that is known, told each time anew: the ledger is read and written at each."""
    return [
        Request(
            "POST",
            "/api/v1/assemble",
            stage.members[0].key,
            {
                "session_id": f"talk-{number % SESSIONS}",
                "user_id": USER,
                "query": QUERIES[number % len(QUERIES)],
                "system": "You help customers.",
                "token_budget": 4_000,
                "dedupe": False,
            },
        )
        for number in range(64)
    ]


def floor(stage: Stage) -> Call:
    """The embedding of the query and one exact search."""
    from episodic.types import EpisodeFilter
    from providers.embeddings import get_embedder

    where, tenant_id = EpisodeFilter(user_id=USER), stage.members[0].tenant_id

    def call(number: int) -> object:
        embedder = get_embedder()
        vector = embedder.embed([QUERIES[number % len(QUERIES)]])[0]
        return exact.search(tenant_id=tenant_id, model=embedder.model, vector=vector, where=where, limit=10)

    return call


def _seed(superuser_url: str, member: Member) -> None:
    from providers.embeddings import get_embedder

    texts = real_texts()
    vectors = get_embedder().embed(texts)
    start = datetime.now(UTC) - timedelta(days=60)
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        register_vector(connection)
        for table in ("agent_episodes", "episode_embeddings", "episode_search"):
            connection.execute(
                f"DELETE FROM {table} WHERE tenant_id = %s AND user_id = %s", (member.tenant_id, USER)
            )
        ids = [uuid7() for _ in range(KNOWN)]
        with connection.cursor().copy(EPISODES) as copy:
            copy.set_types(EPISODE_TYPES)
            for number, identity in enumerate(ids):
                text = f"{texts[number % len(texts)]} (No. {number}.)"
                copy.write_row(
                    (identity, member.tenant_id, "", USER, AGENT, "", f"c{number}", "episodic", "saved", text,
                     [], [], "", Jsonb({}), start + timedelta(minutes=number), False)
                )  # fmt: skip
        with connection.cursor().copy(VECTORS) as copy:
            copy.set_types(VECTOR_TYPES)
            for number, identity in enumerate(ids):
                vector = vectors[number % len(texts)]
                copy.write_row((uuid7(), member.tenant_id, identity, AGENT, USER, MODEL, vector, start))
        copy_words(connection, map(partial(_episode, member, texts, start), range(KNOWN), ids))
        connection.execute("VACUUM (ANALYZE) agent_episodes, episode_embeddings, episode_search")


def _episode(member: Member, texts: list[str], start: datetime, number: int, identity: UUID) -> Episode:
    from episodic.models import Episode

    return Episode(
        id=identity, tenant_id=member.tenant_id, user_id=USER, agent_id=AGENT, session=f"c{number}",
        text=f"{texts[number % len(texts)]} (No. {number}.)", created_at=start + timedelta(minutes=number),
    )  # fmt: skip
