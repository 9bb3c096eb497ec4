"""The Redis connection and the scripts that run there."""

import re
from pathlib import Path
from typing import Any

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


def is_up() -> bool:
    """Whether Redis answers."""
    try:
        return bool(get_redis_connection().ping())
    except RedisError:
        return False


WORKER_SEEN = "strata:worker:seen"
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
