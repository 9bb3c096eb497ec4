"""What is left of a person in Redis: keys that name one, and members of keys that span people."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

from django_redis import get_redis_connection
from redis.client import NEVER_DECODE
from redis.exceptions import RedisError

from tenants.errors import Unavailable
from tenants.privacy.registry import Keys, Subject, handlers

SCANNED = 1_000  # keys or members that one command looks at
TAG = re.compile(r"[0-9a-f]{32}/[^/{}]*/[^/{}]*/[^/{}]")  # tenant/namespace/user/session
UNDECODED = {NEVER_DECODE: True}  # other programs may keep bytes in the same server
SEPARATORS = re.compile(r"[:/|{}]")


def redis_clock() -> int:
    """The server's own clock, in microseconds. Raises Unavailable."""
    try:
        seconds, microseconds = get_redis_connection().time()
    except RedisError as error:
        raise Unavailable("Redis is away.") from error
    return int(seconds) * 1_000_000 + int(microseconds)


def scan_redis(subject: Subject, *, since: int, report: Callable[[], object]) -> dict[str, int]:
    """Keys of the person under `redis.keys`, members that name one under `redis.members`; only those there
    are. What began after `since`, in microseconds of Redis' clock, is the work of one who has come back.

    Looks at every key once, a thousand at a time. Raises Unavailable.
    """
    found: Counter[str] = Counter()
    person = _Person(subject)
    try:
        redis = get_redis_connection()
        for number, key in enumerate(_texts(redis.scan_iter(count=SCANNED, **UNDECODED))):
            if number % SCANNED == 0:
                report()
            if person.is_named(key):
                found["redis.keys"] += not _is_newer(key, since)
            elif not TAG.search(key):  # a session's key holds that session's things alone
                inside = person.is_tenants(key)
                theirs = (text for text in _members(redis, key) if person.is_named(text, inside=inside))
                found["redis.members"] += sum(not _is_newer(text, since) for text in theirs)
    except RedisError as error:
        raise Unavailable("Redis is away.") from error
    return {name: count for name, count in sorted(found.items()) if count}


class _Person:
    """How a key or a member names the person: by a session's tag, or beside the tenant in any other way."""

    def __init__(self, subject: Subject) -> None:
        quoted = quote(subject.user_id, safe="")
        self._tag = re.compile(rf"(?<![0-9a-f]){subject.tenant_id.hex}/[^/{{}}]*/{re.escape(quoted)}/")
        self._tenant = (subject.tenant_id.hex, str(subject.tenant_id))
        self._names = {subject.user_id, quoted}

    def is_tenants(self, text: str) -> bool:
        return any(one in text for one in self._tenant)

    def is_named(self, text: str, *, inside: bool = False) -> bool:
        """`inside`: what holds the text belongs to the tenant."""
        if TAG.search(text):
            return bool(self._tag.search(text))
        in_tenant = inside or self.is_tenants(text)
        return in_tenant and not self._names.isdisjoint((text, *SEPARATORS.split(text)))


def _is_newer(text: str, since: int) -> bool:
    tests = [one.newer for one in handlers().values() if isinstance(one, Keys) and one.newer]
    return any(test(text, since) for test in tests)


def _members(redis: Any, key: str) -> Iterator[str]:
    """The members of a set, list or hash, names and values; a plain string is its key's own business."""
    kind = redis.type(key)
    if kind == "zset":
        yield from _texts(member for member, _score in _scanned(redis, "ZSCAN", key))
    elif kind == "set":
        yield from _texts(_scanned(redis, "SSCAN", key))
    elif kind == "hash":
        yield from _texts(part for pair in _scanned(redis, "HSCAN", key) for part in pair)
    elif kind == "list":
        begin = 0
        while items := redis.execute_command("LRANGE", key, begin, begin + SCANNED - 1, **UNDECODED):
            yield from _texts(items)
            begin += SCANNED


def _scanned(redis: Any, command: str, key: str) -> Iterator[Any]:
    """Members; of a hash, pairs of name and value, of a sorted set, of member and score."""
    cursor: Any = "0"
    while cursor != 0:
        cursor, found = redis.execute_command(command, key, cursor, "COUNT", SCANNED, **UNDECODED)
        yield from found.items() if isinstance(found, dict) else found


def _texts(values: Iterable[Any]) -> Iterator[str]:
    return (value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in values)
