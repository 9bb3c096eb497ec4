"""The SQLite file of a buffer."""

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import BufferUnusable

WAIT = 10.0  # seconds for another process's transaction, where no call has a deadline
SCHEMA = """
CREATE TABLE IF NOT EXISTS writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, server TEXT NOT NULL, sender TEXT NOT NULL, key TEXT NOT NULL,
    method TEXT NOT NULL, target TEXT NOT NULL, headers TEXT NOT NULL, needs TEXT NOT NULL,
    kept_at REAL NOT NULL, left_at REAL, failures INTEGER NOT NULL DEFAULT 0,
    refused_at REAL, status INTEGER, detail TEXT, content BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS writes_waiting ON writes (server, sender, id) WHERE refused_at IS NULL;
CREATE INDEX IF NOT EXISTS writes_by_key ON writes (sender, key) WHERE refused_at IS NULL;
CREATE TABLE IF NOT EXISTS file (
    salt TEXT NOT NULL, writes INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER IF NOT EXISTS write_came AFTER INSERT ON writes BEGIN
    UPDATE file SET writes = writes + 1, bytes = bytes + length(new.content);
END;
CREATE TRIGGER IF NOT EXISTS write_went AFTER DELETE ON writes BEGIN
    UPDATE file SET writes = writes - 1, bytes = bytes - length(old.content);
END;
"""

FIRST_ROW = "INSERT INTO file (salt) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM file)"


class BufferFile:
    """The file `path`, made with its first use, for any number of threads and processes. Everything raises
    BufferUnusable for what SQLite or the system say of it, and after `wait` seconds (`WAIT` without it) in
    which no other thread or process lets go of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # By process: a fork must not use, nor close, another's file, and its threads do not let go of a lock.
        self._locks: dict[int, threading.Lock] = {}
        self._connections: dict[int, sqlite3.Connection] = {}

    def read(self, query: str, values: list[Any] | None = None, *, wait: float | None = None) -> list[Any]:
        """All rows."""
        with self._held(wait) as connection:
            return connection.execute(query, values or []).fetchall()

    @contextmanager
    def transaction(self, wait: float | None = None) -> Iterator[sqlite3.Cursor]:
        """What is done within is done as a whole, or not at all."""
        with self._held(wait) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection.cursor()
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def close(self) -> None:
        """The next use opens it again."""
        with self.lock:
            connection = self._connections.pop(os.getpid(), None)
            if connection is not None:
                connection.close()

    @property
    def lock(self) -> threading.Lock:
        """Held by the thread of this process that uses the file."""
        return self._locks.setdefault(os.getpid(), threading.Lock())

    @contextmanager
    def _held(self, wait: float | None) -> Iterator[sqlite3.Connection]:
        wait = WAIT if wait is None else wait
        end, lock = time.monotonic() + wait, self.lock
        if not lock.acquire(timeout=wait):
            raise BufferUnusable(f"{self.path.name} is in use by another thread.")
        try:
            left = max(0.0, end - time.monotonic())
            connection = self._connection(left)
            connection.execute(f"PRAGMA busy_timeout = {round(left * 1000)}")
            yield connection
        except sqlite3.Error as error:
            raise BufferUnusable(f"{self.path.name} cannot be used: {error}.") from None
        except OSError as error:
            raise BufferUnusable(f"{self.path.name} cannot be used: {error.strerror}.") from None
        finally:
            lock.release()

    def _connection(self, wait: float) -> sqlite3.Connection:
        connection = self._connections.get(os.getpid())
        if connection is None:
            # SQLite's other files are as this one.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=wait, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.executescript(SCHEMA)
                if connection.execute("SELECT 1 FROM file").fetchone() is None:
                    connection.execute(FIRST_ROW, [secrets.token_hex(16)])
            except sqlite3.Error:
                connection.close()
                raise
            self._connections[os.getpid()] = connection
        return connection
