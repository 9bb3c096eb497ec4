"""Observations by the hundred thousand, written past the product for speed; and questions about them.

The words are made up and as frequent as words are (Zipf), so that an index of them behaves as one of prose.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

WORDS = 30_000
LENGTHS = (20, 110)  # words of an observation
QUESTION = "how do I {} the {} {} for {}?"
CLUSTERS = 300  # of vectors, as texts about the same things have
SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
TYPES = ("decision", "discovery", "bugfix", "pattern", "architecture", "config", "learning", "preference")
OBSERVATIONS = (
    "COPY observations_observation (id, tenant_id, user_id, agent_id, project, session, scope, type, title,"
    " content, tags, topic_key, normalized_hash, revision_count, duplicate_count, promoted_to, created_at,"
    " updated_at, embed_pending) FROM STDIN"
)
ENTRIES = (
    "COPY observation_search (id, tenant_id, corpus, user_id, scope, type, created_at, length, lexemes)"
    " FROM STDIN"
)
VECTORS = (
    "COPY observation_embeddings (id, tenant_id, observation_id, corpus, user_id, model, embedding,"
    " created_at) FROM STDIN (FORMAT BINARY)"
)
VECTOR_TYPES = ["uuid", "uuid", "int8", "varchar", "varchar", "varchar", "vector", "timestamptz"]


class Language:
    """A vocabulary and how often each word is used."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        self.words = [self._word(number) for number in range(WORDS)]
        shares = 1 / np.arange(1, WORDS + 1) ** 1.05
        self.shares = shares / shares.sum()

    def _word(self, number: int) -> str:
        size = len(SYLLABLES)
        return (
            SYLLABLES[number % size] + SYLLABLES[number // size % size] + SYLLABLES[number // size**2 % size]
        )

    def text(self, length: int) -> str:
        return " ".join(self.words[one] for one in self.random.choice(WORDS, size=length, p=self.shares))

    def question(self) -> str:
        """Four words as frequent as they come, but for the commonest, which nobody asks about."""
        chosen = 20 + self.random.choice(WORDS - 20, size=4, p=self.shares[20:] / self.shares[20:].sum())
        return QUESTION.format(*(self.words[one] for one in chosen))


def seed_observations(superuser_url: str, tenant_id: UUID, *, count: int, projects: int) -> None:
    """Exactly `count` observations of one tenant, dealt out over `projects` in turn."""
    from observations.lexemes import index_text, mark_of

    language, start = Language(), datetime.now(UTC) - timedelta(days=30)
    with psycopg.connect(superuser_url) as connection:
        register_vector(connection)
        connection.execute("TRUNCATE observations_observation CASCADE")
        connection.execute("DROP INDEX IF EXISTS observation_nearest, observation_lexemes")
        texts = [
            (language.text(6), language.text(int(language.random.integers(*LENGTHS)))) for _ in range(count)
        ]
        names = [f"project-{number % projects}" for number in range(count)]
        moments = [start + timedelta(seconds=number) for number in range(count)]
        with connection.cursor().copy(OBSERVATIONS) as copy:
            for number, (title, content) in enumerate(texts):
                copy.write_row(
                    (number + 1, tenant_id, "", "", names[number], "seed", "project", TYPES[number % 8],
                     title, content, [], "", "0" * 64, 1, 1, "", moments[number], moments[number], False)
                )  # fmt: skip
        marks = {name: mark_of(tenant_id, name) for name in set(names)}
        with connection.cursor().copy(ENTRIES) as copy:
            for number, (title, content) in enumerate(texts):
                name, kind = names[number], TYPES[number % 8]
                text = index_text([title, content, "", kind], marks[name])
                copy.write_row(
                    (
                        number + 1,
                        tenant_id,
                        name,
                        "",
                        "project",
                        kind,
                        moments[number],
                        text.length,
                        text.vector,
                    )
                )
        with connection.cursor().copy(VECTORS) as copy:
            copy.set_types(VECTOR_TYPES)
            for number, vector in enumerate(_vectors(count)):
                identity = UUID(int=number + 1)
                copy.write_row(
                    (identity, tenant_id, number + 1, names[number], "", "all-MiniLM-L6-v2", vector, start)
                )
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        _index(connection)
        connection.execute(
            "VACUUM (ANALYZE) observations_observation, observation_search, observation_embeddings"
        )
        connection.execute("CHECKPOINT")


def _index(connection: psycopg.Connection) -> None:
    """The indexes again, as the migrations make them: filling them row by row would take minutes."""
    connection.execute("SET maintenance_work_mem = '512MB'")
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('observations_observation', 'id'), max(id))"
        " FROM observations_observation"
    )
    connection.execute(
        "CREATE INDEX observation_lexemes ON observation_search USING gin (lexemes) WITH (fastupdate = off)"
    )
    connection.execute(
        "CREATE INDEX observation_nearest ON observation_embeddings"
        " USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) WHERE model = 'all-MiniLM-L6-v2'"
    )


def _vectors(count: int) -> Iterator[NDArray[np.float32]]:
    random = np.random.default_rng(7)
    centres = random.standard_normal((CLUSTERS, 384), dtype=np.float32)
    for _ in range(count):
        vector = centres[random.integers(CLUSTERS)] + random.standard_normal(384, dtype=np.float32)
        yield vector / np.linalg.norm(vector)
