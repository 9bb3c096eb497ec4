"""The Redis connection and the scripts that run there."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from django_redis import get_redis_connection
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from tenants.errors import Unavailable

T = TypeVar("T")
SCANNED = 1_000  # keys that one command looks at or deletes
# Names the run of the server; put before every script that asks whether a cached copy is still whole.
SERVER_SCRIPT = Path(__file__).parent / "scripts" / "server.lua"
AWAY = (ConnectionError, TimeoutError, BusyLoadingError, ReadOnlyError, OutOfMemoryError)
# From within a script these come as plain errors: memory full, disk full, a replica that was the primary.
REFUSED = re.compile(r"-(OOM|MISCONF|READONLY) ")


class RedisAway(Unavailable):
    """Redis does not answer."""


class Script:
    """A Lua script from a file, after the lines of the files it builds on; sent once, called by its hash."""

    def __init__(self, *paths: Path) -> None:
        self._text = "\n".join(path.read_text() for path in paths)
        self._script: Any = None

    def __call__(self, keys: list[str], args: list[Any]) -> Any:
        """Runs on one node, atomically. Raises RedisAway when Redis does not answer."""
        try:
            if self._script is None:
                self._script = get_redis_connection().register_script(self._text)
            return self._script(keys=keys, args=args)
        except AWAY as error:
            raise RedisAway("Redis is away.") from error
        except ResponseError as error:
            if REFUSED.search(str(error)):
                raise RedisAway("Redis takes no writes.") from error
            raise


def scan_keys(pattern: str) -> list[str]:
    """The keys that match a glob pattern, without blocking the server. Raises RedisAway."""
    return ask(lambda redis: list(dict.fromkeys(redis.scan_iter(match=pattern, count=SCANNED))))


def delete_keys(keys: Sequence[str]) -> int:
    """Deletes the keys, each by itself, since they stand in many slots; how many there were."""

    def delete(redis: Any) -> int:
        deleted = 0
        for begin in range(0, len(keys), SCANNED):
            pipeline = redis.pipeline(transaction=False)
            for key in keys[begin : begin + SCANNED]:
                pipeline.unlink(key)
            deleted += sum(pipeline.execute())
        return deleted

    return ask(delete)


def read_hash(key: str) -> dict[str, str]:
    """A hash as it stands, without renewing its hold; empty when there is none."""
    return dict(ask(lambda redis: redis.hgetall(key)))


def read_list(key: str) -> list[str]:
    """A list, likewise."""
    return list(ask(lambda redis: redis.lrange(key, 0, -1)))


def read_field(key: str, field: str) -> str | None:
    """One field of a hash, likewise."""
    value: str | None = ask(lambda redis: redis.hget(key, field))
    return value


def ask(command: Callable[[Any], T]) -> T:
    """What the command answers. Raises RedisAway when Redis does not answer."""
    try:
        return command(get_redis_connection())
    except AWAY as error:
        raise RedisAway("Redis is away.") from error


def is_up() -> bool:
    """Whether Redis answers."""
    try:
        return bool(get_redis_connection().ping())
    except RedisError:
        return False


WORKER_SEEN = "strata:worker:seen"
CLOCK_RUNG = "strata:clock:rung"  # when beat sent the rare tasks last, by name
WORKER_PATIENCE = 45  # seconds: three missed heartbeats


def see_worker() -> None:
    """Notes that a worker is at work."""
    get_redis_connection().set(WORKER_SEEN, "1", ex=WORKER_PATIENCE)


def worker_seen() -> bool:
    """Whether a worker was at work lately."""
    try:
        return bool(get_redis_connection().exists(WORKER_SEEN))
    except RedisError:
        return False
