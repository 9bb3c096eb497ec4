"""The words of episodes that were written past the product, as the product would have entered them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from episodic.models import Episode

COLUMNS = (
    "id, tenant_id, user_id, agent_id, thread, place, speaker, names, asks, tells_time, happened_at,"
    " created_at, valid_to, length, lexemes"
)


def copy_words(connection: psycopg.Connection, episodes: Iterable[Episode]) -> None:
    """Enters them. The index is made anew: filling it row by row would take minutes."""
    from episodic.indexing import entry_of

    connection.execute("DROP INDEX IF EXISTS episode_lexemes")
    with connection.cursor().copy(f"COPY episode_search ({COLUMNS}) FROM STDIN") as copy:
        for one in map(entry_of, episodes):
            copy.write_row(
                (one.id, one.tenant_id, one.user_id, one.agent_id, one.thread, one.place, one.speaker,
                 one.names, one.asks, one.tells_time, one.happened_at, one.created_at, one.valid_to,
                 one.length, one.lexemes)
            )  # fmt: skip
    connection.execute("SET maintenance_work_mem = '512MB'")
    connection.execute(
        "CREATE INDEX episode_lexemes ON episode_search USING gin (lexemes) WITH (fastupdate = off)"
    )
