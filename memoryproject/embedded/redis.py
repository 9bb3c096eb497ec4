"""Redis as our child, on a Unix socket in a private folder, with a password and an append-only file."""

import signal
from pathlib import Path
from urllib.parse import quote

import redis

from memoryproject.embedded import orphans
from memoryproject.embedded.folders import through
from memoryproject.embedded.process import Child
from memoryproject.embedded.server import EmbeddedServer

SOCKET = "redis.sock"
# noeviction: the broker's queue is in here too, and a task evicted is a task lost.
CONFIGURATION = """\
port 0
daemonize no
save ""
appendonly yes
appendfsync everysec
aof-load-truncated yes
maxmemory-policy noeviction
unixsocketperm 700
unixsocket {socket}
dir {folder}
requirepass {password}
"""


class EmbeddedRedis(EmbeddedServer):
    name = "Redis"
    folder = "redis"
    socket_name = SOCKET
    stop_steps = ((signal.SIGTERM, 20.0),)

    def url(self, db: int = 0) -> str:
        """As `redis.from_url` takes it."""
        return f"unix://:{self._credentials.redis}@{quote(str(self._socket))}?db={db}"

    def celery_url(self, db: int = 1) -> str:
        """As kombu's Redis transport takes it."""
        return f"redis+socket://:{self._credentials.redis}@{quote(str(self._socket))}?virtual_host={db}"

    @property
    def _socket(self) -> Path:
        return self._sockets.path / SOCKET

    def _clear_leftovers(self) -> None:
        if left := self._left_behind():
            self._say("Stopping a Redis that an earlier run left behind.")
            orphans.end(left, signal.SIGTERM, 10.0, self._left_behind)
        self._sockets.clear()

    def _left_behind(self) -> list[int]:
        return orphans.working_in(self._folder_fd, ".", "redis-server")

    def _spawn(self) -> Child:
        configuration = CONFIGURATION.format(
            socket=through(self._sockets.fd, SOCKET),
            folder=through(self._folder_fd),
            password=self._credentials.redis,
        )
        return Child(
            [str(self._binaries.redis_server), "-"],  # the password reaches it through its standard input
            log=self.log, env={"LC_ALL": "C", "TZ": "UTC"}, account=self._account,
            pass_fds=(self._folder_fd, self._sockets.fd), stdin=configuration.encode(),
        )  # fmt: skip

    def _problem(self) -> str | None:
        client = redis.from_url(self.url(), socket_connect_timeout=5)
        try:
            client.ping()
        except (redis.ConnectionError, redis.TimeoutError) as error:  # one that still loads its file, too
            return str(error)
        finally:
            client.close()
        return None
