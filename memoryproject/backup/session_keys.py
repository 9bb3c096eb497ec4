"""What only Redis holds: the AEGIS hashes with the holds of their sessions, and turns that are in no log.

Everything else there is a copy of PostgreSQL's and is made anew by its next reader.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from memoryproject.backup.archive import Reader, Writer
from tenants.subjects import token_principal
from working import keys
from working.privacy import owners_of
from working.redis import SCANNED, ask, delete_keys
from working.types import SessionRef
from working.unlogged import keeps_log

MEMBER = "redis.jsonl"
# By these a list counts as whole. What was written after the backup's moment may be in it: it is made anew.
TRUST = ("seq", "run")


def dump(*, tenant_id: UUID | None, archive: Writer) -> int:
    """Writes the sessions of one tenant or of all; how many. Raises RedisAway."""
    count = 0
    with archive.member(MEMBER) as member:
        for ref, ends_at, meta in _sessions(tenant_id):
            record = _held(ref, meta)
            if record:
                session = [ref.tenant_id.hex, ref.namespace, ref.user_id, ref.session_id]
                line = {"session": session, "ends_at": ends_at, "meta": meta, **record}
                member.write(json.dumps(line).encode() + b"\n")
                count += 1
    return count


def _sessions(tenant_id: UUID | None) -> Iterator[tuple[SessionRef, int, dict[str, str]]]:
    """Each session that Redis knows, with the moment of its end in milliseconds."""
    mine = tenant_id.hex if tenant_id else "*"
    pattern = f"agent:session:{{{mine}/*}}:meta"
    for key in ask(lambda redis: redis.scan_iter(match=pattern, count=SCANNED)):
        ref = keys.find_tag(key)
        if ref is None or key != keys.meta(ref):
            continue
        left, meta = ask(partial(_look, key=key))
        if left > 0 and meta:
            yield ref, int(time.time() * 1000) + left, meta


def _look(redis: Any, *, key: str) -> tuple[int, dict[str, str]]:
    return redis.pttl(key), redis.hgetall(key)


def _held(ref: SessionRef, meta: dict[str, str]) -> dict[str, Any]:
    fields = ask(lambda redis: redis.hgetall(keys.fields(ref)))
    record: dict[str, Any] = {"fields": fields} if fields else {}
    if not keeps_log(tenant_id=ref.tenant_id, agent_id=meta.get("agent", "")):
        turns = ask(lambda redis: redis.lrange(keys.turns(ref), 0, -1))
        record |= {"turns": turns} if turns else {}
    return record


def owners(archive: Reader) -> Iterator[tuple[SessionRef, str]]:
    """The sessions without a user whose AEGIS fields say whose they are, each with that person's id."""
    for line in archive.lines(MEMBER):
        ref = _ref(line)
        if not ref.user_id:
            yield from ((ref, user_id) for user_id in _owners(line.get("fields", {})))


def _owners(fields: Mapping[str, str]) -> set[str]:
    """The one person, by the id or by the principal of their tokens: of an id that looks like such a
    principal, both that it may be. None where the fields say several."""
    said = owners_of(fields)
    ids = said | {one.removeprefix(token_principal("")) for one in said}
    return {one for one in ids if one and said <= {one, token_principal(one)}}


def load(*, archive: Reader, wanted: Callable[[SessionRef], bool]) -> int:
    """Sets the sessions that are `wanted` and would not have ended by now; how many. Raises RedisAway."""
    count = 0
    for line in archive.lines(MEMBER):
        ref = _ref(line)
        if wanted(ref) and line["ends_at"] > time.time() * 1000:
            ask(partial(_set, ref=ref, line=line))
            count += 1
    return count


def _ref(line: dict[str, Any]) -> SessionRef:
    tenant, *names = line["session"]
    return SessionRef(UUID(tenant), *names)


def _set(redis: Any, *, ref: SessionRef, line: dict[str, Any]) -> None:
    meta = {name: value for name, value in line["meta"].items() if name not in TRUST}
    held = {name: value for name, value in meta.items() if not name.startswith("d:")}
    held["gen"] = str(
        time.time_ns() // 1000
    )  # whoever is loading the list from before the restore is too late
    pipeline = redis.pipeline(transaction=True)
    pipeline.delete(*keys.all_of(ref))
    pipeline.hset(keys.meta(ref), mapping=held)
    if "fields" in line:
        pipeline.hset(keys.fields(ref), mapping=line["fields"])
    if "turns" in line:
        pipeline.rpush(keys.turns(ref), *line["turns"])
    for key in keys.all_of(ref):
        pipeline.pexpireat(key, line["ends_at"])
    pipeline.execute()


def drop(tenant_id: UUID) -> None:
    """Deletes every key of the tenant's sessions. Raises RedisAway."""
    waiting = []
    for key in ask(lambda redis: redis.scan_iter(match=f"*{{{tenant_id.hex}/*", count=SCANNED)):
        waiting.append(key)
        if len(waiting) == SCANNED:
            delete_keys(waiting)
            waiting = []
    delete_keys(waiting)
