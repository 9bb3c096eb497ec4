"""Redis Agent Memory Server: the Redis that it keeps everything in, when the server itself is gone."""

import json
import re
from collections.abc import Iterator
from typing import Any

import redis

from memoryproject.importing.errors import SourceUnknown, SourceUnreachable
from memoryproject.importing.fields import sample_of
from memoryproject.importing.rows import Junk, Row
from memoryproject.importing.sources.redis_ams import memory_of, session_of

SCHEMES = ("redis://", "rediss://", "unix://")
RECORDS, SESSIONS = "memory_idx:*", "working_memory:*"
PAGE = 500  # keys that are looked through at once
SECONDS = 30  # that an answer may take
LISTS = ("topics", "entities", "extracted_from")
NUMBERS = ("created_at", "last_accessed", "updated_at", "persisted_at", "event_date")
# Of a hash: its fields but for the vector, which is another model's.
FIELDS = (
    "id_", "text", "session_id", "user_id", "namespace", "memory_type", "topics", "entities",
    "extracted_from", "metadata", "pinned", "access_count", *NUMBERS,
)  # fmt: skip


class AmsStore:
    """Its long-term memories, hashes below `memory_idx:`, and its sessions, JSON below `working_memory:`."""

    name, unit = "redis-ams", " keys"

    def __init__(self, url: str) -> None:
        self.total: int | None = None
        self.position = 0
        try:
            self._redis = redis.Redis.from_url(
                url, socket_timeout=SECONDS, socket_connect_timeout=10, encoding_errors="replace"
            )
            self._redis.ping()
        except redis.RedisError as error:
            raise _lost(error) from error
        except ValueError:
            raise SourceUnknown("This is no address like redis://127.0.0.1:6379/0.") from None

    def rows(self) -> Iterator[Row]:
        """Everything in it. The order of the keys is Redis's own."""
        try:
            for key in self._redis.scan_iter(RECORDS, count=PAGE):
                self.position += 1
                if self._redis.type(key) == b"hash":
                    yield self._memory(key)
            for key in self._redis.scan_iter(SESSIONS, count=PAGE):
                self.position += 1
                yield from self._session(key)
        except redis.RedisError as error:
            raise _lost(error) from error

    def _memory(self, key: bytes) -> Row:
        place = f"key {key.decode(errors='replace')}"
        values = self._redis.hmget(key, list(FIELDS))
        found = {
            name: value.decode(errors="replace") if isinstance(value, bytes) else value
            for name, value in zip(FIELDS, values, strict=True)
            if value is not None
        }
        return memory_of(place, _record_of(found))

    def _session(self, key: bytes) -> Iterator[Row]:
        place = f"key {key.decode(errors='replace')}"
        raw = self._redis.get(key) if self._redis.type(key) == b"string" else self._json(key)
        try:
            found = json.loads(raw or b"null")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            yield Junk(place, "no session", sample_of(str(raw)))
            return
        yield from session_of(place, found)

    def _json(self, key: bytes) -> Any:
        return self._redis.execute_command("JSON.GET", key)  # type: ignore[no-untyped-call]  # not redis-py's


def _record_of(found: dict[str, str]) -> dict[str, Any]:
    """A hash as the server answers it."""
    record: dict[str, Any] = {name: value for name, value in found.items() if value != ""}
    record["id"] = record.pop("id_", "")
    for name in LISTS:
        record[name] = _tags(record.get(name, ""))
    for name in NUMBERS:
        if name in record:
            record[name] = _number(record[name])
    record["pinned"] = record.get("pinned") in ("1", "true")
    count = _number(record.get("access_count", "0"))
    record["access_count"] = int(count) if isinstance(count, float) else count
    record["metadata"] = _members(record.get("metadata", "{}"))
    return record


def _tags(value: str) -> list[str]:
    """Comma is what it joins them with now, and a bar what it did before."""
    return [one.strip() for one in re.split(r"[|,]", value) if one.strip()]


def _members(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value  # which is told as broken


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value  # which is told as broken


def _lost(error: redis.RedisError) -> SourceUnreachable:
    said = type(error).__name__
    return SourceUnreachable(f"The source's Redis does not answer, or no longer ({said}).")
