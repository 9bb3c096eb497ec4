"""What is left of a person in Redis: keys and members that name one, sessions that are called by the id, and
what sessions hold.

Like the scan of tables, this knows no handlers. In the hashes and lists of the tenant's sessions, whosever
they are, it looks for the id as a whole value, at any depth of what is JSON there.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from django_redis import get_redis_connection
from redis.client import NEVER_DECODE
from redis.exceptions import RedisError

from tenants.errors import Unavailable
from tenants.privacy.mentions import forms_of, names_of, says
from tenants.privacy.registry import Keys, Subject, handlers
from tenants.privacy.words import KEYS

SCANNED = 1_000  # keys or members that one command looks at
READ = 100  # hashes and lists that are read at once, each up to the limit of a working memory
TAG = re.compile(r"(?<![0-9a-f])([0-9a-f]{32})/([^/{}]*)/([^/{}]*)/([^/{}]+)")
UNDECODED = {NEVER_DECODE: True}  # other programs may keep bytes in the same server
SEPARATORS = re.compile(r"[:/|{}]")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something in Redis that says the id, and where the receipt counts it.

    `redis.keys` and `redis.members` name the person; `text` is the key, or a member of the key `inside`.
    `redis.sessions` are called by the id, or stand in a namespace that is, and `redis.values` hold it: `text`
    is the session's tag.
    """

    place: str
    text: str
    inside: str = ""

    @property
    def session(self) -> tuple[str, str, str]:
        """Namespace, user and client's id of the session whose tag the text is."""
        _tenant, namespace, user, name = self.text.strip("{}").split("/")
        return unquote(namespace), unquote(user), unquote(name)


def redis_clock() -> int:
    """The server's own clock, in microseconds. Raises Unavailable."""
    try:
        seconds, microseconds = get_redis_connection().time()
    except RedisError as error:
        raise Unavailable("Redis is away.") from error
    return int(seconds) * 1_000_000 + int(microseconds)


def scan_redis(subject: Subject, *, since: int, report: Callable[[], object]) -> dict[str, int]:
    """How many hits there are in each place; only places with any. Raises Unavailable."""
    found = Counter(hit.place for hit in set(find_in_redis(subject, since=since, report=report)))
    return dict(sorted(found.items()))


def find_in_redis(subject: Subject, *, since: int, report: Callable[[], object]) -> Iterator[Hit]:
    """What says the person's id; one may come more than once. What began after `since`, in microseconds of
    Redis' clock, is the work of one who has come back.

    Looks at every key once, a thousand at a time, with a call of `report` before each, and reads what the
    tenant's sessions hold, a hundred at a time. Raises Unavailable.
    """
    person = _Person(subject)
    try:
        redis = get_redis_connection()
        keys = _texts(redis.scan_iter(count=SCANNED, **UNDECODED))
        while page := list(islice(keys, SCANNED)):
            report()
            for hit in _in_page(redis, person, page):
                if not _is_newer(hit.text, since):
                    yield hit
    except RedisError as error:
        raise Unavailable("Redis is away.") from error


def _in_page(redis: Any, person: "_Person", page: list[str]) -> Iterator[Hit]:
    others = []
    for key in page:
        if hit := person.hit(key, place="redis.keys"):
            yield hit
        if not TAG.search(key):
            inside = person.is_tenants(key)
            for text in _members(redis, key):
                if hit := person.hit(text, place="redis.members", inside=key, is_tenants=inside):
                    yield hit
        elif (tag := person.tag_in(key)) and (hit is None or hit.place == "redis.sessions"):
            others.append((key, tag))
    for begin in range(0, len(others), READ):
        some = others[begin : begin + READ]
        for (_key, tag), held in zip(some, _held(redis, [key for key, _tag in some]), strict=True):
            hit = Hit("redis.values", tag)
            if person.is_said_in(held, owner=hit.session[1]):
                yield hit


class _Person:
    """How texts name the person: by a session's tag, or beside the tenant in any other way."""

    def __init__(self, subject: Subject) -> None:
        self._tenants = (subject.tenant_id.hex, str(subject.tenant_id))
        self._quoted = quote(subject.user_id, safe="")
        self._names = {subject.user_id, self._quoted}
        self._said = frozenset(names_of(subject))
        self._by_name = subject.user_id not in KEYS
        self._forms = forms_of(subject)

    def is_tenants(self, text: str) -> bool:
        return any(one in text for one in self._tenants)

    def tag_in(self, text: str) -> str:
        """The tag of a session of the tenant's that the text names; empty when it names none."""
        found = TAG.search(text)
        return f"{{{found[0]}}}" if found and found[1] == self._tenants[0] else ""

    def hit(self, text: str, *, place: str, inside: str = "", is_tenants: bool = False) -> Hit | None:
        """`is_tenants`: what holds the text belongs to the tenant."""
        if tags := list(TAG.finditer(text)):
            return self._by_tags(
                [tag for tag in tags if tag[1] == self._tenants[0]], Hit(place, text, inside)
            )
        if not (is_tenants or self.is_tenants(text)):
            return None
        is_named = not self._names.isdisjoint((text, *SEPARATORS.split(text))) or self._is_in_json(text)
        return Hit(place, text, inside) if is_named else None

    def _by_tags(self, tags: list[re.Match[str]], theirs: Hit) -> Hit | None:
        if any(tag[3] == self._quoted for tag in tags):
            return theirs
        for tag in tags:
            if self._quoted in (tag[2], tag[4]):
                return Hit("redis.sessions", f"{{{tag[0]}}}")
        return None

    def is_said_in(self, held: dict[str, str] | list[str], *, owner: str) -> bool:
        """Of what a key of a session of `owner`'s holds: a hash by its fields, or a list."""
        if isinstance(held, list):
            return any(map(self._is_in_json, held))
        if self._by_name and not self._said.isdisjoint(held):
            return True
        # The owner's name stands there as it is, whatever it would be as JSON.
        return any(self._is_in_json(value, name) for name, value in held.items() if value != owner)

    def _is_in_json(self, text: str, name: str = "") -> bool:
        return self._may_say(text) and says({name: _parsed(text)}, self._said, by_name=self._by_name)

    def _may_say(self, text: str) -> bool:
        return any(form in text for form in self._forms)


def _is_newer(text: str, since: int) -> bool:
    tests = [one.newer for one in handlers().values() if isinstance(one, Keys) and one.newer]
    return any(test(text, since) for test in tests)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _held(redis: Any, keys: list[str]) -> list[dict[str, str] | list[str]]:
    """What hashes and lists hold; of other keys nothing: a plain string is text."""
    pipeline = redis.pipeline(transaction=False)
    for key in keys:
        pipeline.type(key)
    kinds = dict(zip(keys, pipeline.execute(), strict=True))
    readable = [key for key in keys if kinds[key] in {"hash", "list"}]
    for key in readable:
        command = ["HGETALL", key] if kinds[key] == "hash" else ["LRANGE", key, 0, -1]
        pipeline.execute_command(*command, **UNDECODED)
    # One may have become something else since; then it is new.
    answers = dict(zip(readable, pipeline.execute(raise_on_error=False), strict=True))
    return [_decoded(answers.get(key)) for key in keys]


def _decoded(answer: Any) -> dict[str, str] | list[str]:
    if isinstance(answer, dict):
        return dict(zip(_texts(answer), _texts(answer.values()), strict=True))
    return list(_texts(answer)) if isinstance(answer, list) else []


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
