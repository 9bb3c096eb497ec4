"""The broker goes away under a connection with unfinished work; whoever holds it may close it and go on."""

from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from memoryproject import celery_app
from memoryproject.embedded.redis import EmbeddedRedis


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(tmp_path)
    server.start()
    yield server
    server.stop()


def test_a_lost_connection_is_closed_without_an_error_that_would_end_the_worker(redis: EmbeddedRedis):
    """As a worker has it: one channel with a message that is being worked on, others that wait for more."""
    connection = celery_app.connection_for_read(redis.celery_url(1))
    begin_work(connection)
    for name in ("control", "events"):
        wait_for_more(connection, name)
    redis.kill()
    connection.collect()
    connection.close()


def begin_work(connection: Connection) -> None:
    tasks = connection.SimpleQueue("tasks")
    tasks.put({"id": 1})
    assert tasks.get(timeout=5).payload == {"id": 1}


def wait_for_more(connection: Connection, name: str) -> None:
    channel = connection.channel()
    with pytest.raises(Empty):
        connection.SimpleQueue(name, channel=channel).get(timeout=0.1)
    if not channel._in_poll:
        channel._brpop_start()
