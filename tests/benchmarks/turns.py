"""Recall over verbatim turns: everything said in conversations of made-up, but real-looking words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from tests.benchmarks import exact
from tests.benchmarks.floors import Call
from tests.benchmarks.load import Request
from tests.benchmarks.notes import Language
from tests.benchmarks.seed import EPISODE_TYPES, EPISODES, VECTOR_TYPES, VECTORS, Member
from tests.benchmarks.stage import Stage
from tests.benchmarks.words import copy_words

if TYPE_CHECKING:
    from episodic.models import Episode

Parts = tuple[Callable[[Stage], list[Request]], Callable[[Stage], Call], Callable[[Stage], list[Request]]]
AGENT, MODEL = "talker", "all-MiniLM-L6-v2"
SESSION = 22  # turns of one
LENGTHS = (5, 45)  # words of a turn
CLUSTERS = 300
SPEAKERS = ("Ana", "Bo")


def prepare(stage: Stage, *, users: int, each: int) -> list[Request]:
    """The turns of `users` users of one tenant, written past the product."""
    member = stage.members[0]
    with psycopg.connect(stage.superuser_url, autocommit=True) as connection:
        register_vector(connection)
        for table in ("agent_episodes", "episode_embeddings", "episode_search"):
            connection.execute(f"DELETE FROM {table} WHERE agent_id = %s", [AGENT])
        rows = list(_turns(member, users, each))
        with connection.cursor().copy(EPISODES) as copy:
            copy.set_types(EPISODE_TYPES)
            for one in rows:
                copy.write_row(
                    (one.id, one.tenant_id, "", one.user_id, AGENT, "", one.session, "message", "saved",
                     one.text, [], [], "", Jsonb({}), one.created_at, False)
                )  # fmt: skip
        with connection.cursor().copy(VECTORS) as copy:
            copy.set_types(VECTOR_TYPES)
            for one, vector in zip(rows, _vectors(len(rows)), strict=True):
                copy.write_row(
                    (uuid7(), one.tenant_id, one.id, AGENT, one.user_id, MODEL, vector, one.created_at)
                )
        copy_words(connection, rows)
        connection.execute("VACUUM (ANALYZE) agent_episodes, episode_embeddings, episode_search")
    return []


def requests(stage: Stage, *, users: int) -> list[Request]:
    """Questions as natural ones are, each about a user."""
    language = Language(seed=11)
    return [
        Request(
            "POST", "/api/v1/recall", stage.members[0].key,
            {"query": language.question(), "user_id": f"talker-{number % users}", "top_k": 10},
        )
        for number in range(200)
    ]  # fmt: skip


def floor(stage: Stage, *, users: int) -> Call:
    """The embedding of the query and one exact search."""
    from episodic.types import EpisodeFilter
    from providers.embeddings import get_embedder

    language, tenant_id = Language(seed=11), stage.members[0].tenant_id
    questions = [language.question() for _ in range(200)]

    def call(number: int) -> object:
        embedder = get_embedder()
        vector = embedder.embed([questions[number % 200]])[0]
        where = EpisodeFilter(user_id=f"talker-{number % users}")
        return exact.search(tenant_id=tenant_id, model=embedder.model, vector=vector, where=where, limit=10)

    return call


def parts(*, users: int, each: int) -> Parts:
    """Requests, floor and preparation of a case."""
    return (
        partial(requests, users=users),
        partial(floor, users=users),
        partial(prepare, users=users, each=each),
    )


def _turns(member: Member, users: int, each: int) -> Iterator[Episode]:
    from episodic.models import Episode

    language, start = Language(), datetime.now(UTC) - timedelta(days=300)
    for number in range(users * each):
        user, turn = divmod(number, each)
        place = turn % SESSION + 1
        text = language.text(int(language.random.integers(*LENGTHS)))
        yield Episode(
            id=uuid7(), tenant_id=member.tenant_id, user_id=f"talker-{user}", agent_id=AGENT,
            session=f"talk-{turn // SESSION}", memory_type="message", covers_turns=[place, place],
            text=f"{SPEAKERS[turn % 2]}: {text}{'?' if turn % 5 == 0 else '.'}",
            created_at=start + timedelta(hours=turn),
        )  # fmt: skip


def _vectors(count: int) -> Iterator[NDArray[np.float32]]:
    random = np.random.default_rng(7)
    centres = random.standard_normal((CLUSTERS, 384), dtype=np.float32)
    for _ in range(count):
        vector = centres[random.integers(CLUSTERS)] + random.standard_normal(384, dtype=np.float32)
        yield vector / np.linalg.norm(vector)
