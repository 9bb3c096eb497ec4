import time

import pytest
import redis
from kombu import Connection

from memoryproject.embedded.redis import EmbeddedRedis

DEEP = "/".join(["a folder with spaces and % signs"] * 8)


def test_keys_survive_a_stop_and_a_start(redis_server):
    redis_server.start()
    redis.from_url(redis_server.url()).set("kept", "7")
    redis_server.stop()
    redis_server.start()
    assert redis.from_url(redis_server.url()).get("kept") == b"7"


def test_keys_older_than_a_second_survive_a_kill(redis_server):
    redis_server.start()
    client = redis.from_url(redis_server.url())
    client.set("kept", "7")
    time.sleep(1.2)
    redis_server.kill()
    redis_server.start()
    assert client.get("kept") == b"7"


def test_a_write_cut_off_at_the_end_of_the_file_does_not_keep_it_from_starting(redis_server, home):
    redis_server.start()
    redis.from_url(redis_server.url()).set("kept", "7")
    redis_server.stop()
    with (home / "redis" / "appendonly.aof").open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$4\r\nlo")
    redis_server.start()
    assert redis.from_url(redis_server.url()).get("kept") == b"7"


def test_a_spoilt_file_is_told_with_a_sentence(redis_server, home):
    redis_server.start()
    redis.from_url(redis_server.url()).set("kept", "7")
    redis_server.stop()
    path = home / "redis" / "appendonly.aof"
    path.write_bytes(b"nonsense\r\n" + path.read_bytes())
    with pytest.raises(Exception, match="Redis did not start: Bad file format"):
        redis_server.start()


def test_it_demands_its_password(redis_server):
    redis_server.start()
    with pytest.raises(redis.AuthenticationError):
        redis.from_url(redis_server.url().replace("unix://:", "unix://:wrong")).ping()


@pytest.mark.parametrize("name", ["home with % and spaces", DEEP])
def test_cache_and_broker_addresses_lead_to_two_databases_of_any_home(tmp_path, name):
    server = EmbeddedRedis(tmp_path / name)
    server.start()
    try:
        with Connection(server.celery_url()) as broker:
            broker.SimpleQueue("tasks").put({"n": 1})
        assert redis.from_url(server.url(1)).llen("tasks") == 1
        assert redis.from_url(server.url(0)).llen("tasks") == 0
    finally:
        server.stop()
