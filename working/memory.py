"""The AEGIS working memory: a hash of fields per session, volatile by its contract."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from tenants.caller import Caller
from tenants.errors import TooLarge
from tenants.policy.reading import read_policy
from tenants.scope import scope
from working import store, workspace_queries
from working.models import Session
from working.redis import RedisAway
from working.sessions import find_session, ref_of, with_known_session
from working.types import SessionAddress

_JSON_STARTS = frozenset('{["-0123456789tfn \t\r\n')


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The fields of a session, the seconds they will be kept, and the bytes they take in Redis."""

    data: dict[str, Any]
    ttl_seconds: int
    size_bytes: int


def read_fields(
    *, caller: Caller, address: SessionAddress, now: datetime, measure: bool = False
) -> WorkingMemory | None:
    """All fields; renews their hold. None when the session is unknown. `size_bytes` only if `measure`."""
    found = with_known_session(
        caller=caller,
        address=address,
        now=now,
        create=False,
        run=lambda ref: store.read_fields(caller=caller, ref=ref, now=now.timestamp(), measure=measure),
    )
    return _decoded(found) if found else None


def peek_data(*, session: Session) -> dict[str, Any]:
    """All fields of a stored session, its hold not renewed: somebody looks on. Raises RedisAway."""
    return {name: decode(raw) for name, raw in store.peek_fields(ref=ref_of(session)).items()}


def put_fields(
    *,
    caller: Caller,
    address: SessionAddress,
    data: Mapping[str, Any],
    now: datetime,
    ttl_seconds: int | None = None,
) -> WorkingMemory:
    """Merges `data` into the fields and answers the result.

    Raises TooLarge when the hash is then over the policy's `limits.working_memory_bytes`: after the write,
    as AEGIS does, or instead of it where `WORKING_MEMORY_STRICT` is set.
    """
    limit = read_policy(tenant_id=caller.tenant_id, agent_id=caller.agent_id).limits.working_memory_bytes
    values = {name: encode(value) for name, value in data.items()}
    written = with_known_session(
        caller=caller,
        address=address,
        now=now,
        create=True,
        run=lambda ref: store.write_fields(
            caller=caller,
            ref=ref,
            now=now.timestamp(),
            values=values,
            ttl=ttl_seconds,
            undo_above=limit if settings.WORKING_MEMORY_STRICT else 0,
        ),
    )
    if written is None:
        raise RedisAway("Redis forgot the session in the middle of a write.")
    if written.size > limit:
        outcome = "not written" if settings.WORKING_MEMORY_STRICT else "written all the same"
        raise TooLarge(
            f"Working memory of {written.size} bytes exceeds {limit} bytes; the fields were {outcome}."
        )
    return _decoded(written)


def delete_fields(
    *, caller: Caller, address: SessionAddress, names: Sequence[str] | None, now: datetime
) -> list[str]:
    """Deletes the named fields, or all for None; answers those that were there. They are gone for clients,
    too, that see them as the data of the whole session."""
    session = find_session(caller=caller, address=address)
    if session is None:
        return []
    with scope(caller.tenant_id):
        workspace_queries.drop_data(session=session, names=names)
    deleted = with_known_session(
        caller=caller,
        address=address,
        now=now,
        create=False,
        run=lambda ref: store.delete_fields(caller=caller, ref=ref, now=now.timestamp(), names=names),
    )
    return deleted or []


def encode(value: Any) -> str:
    """A string that is not itself JSON stands as it is; everything else as JSON, so that `decode` returns
    exactly what was given."""
    try:
        if isinstance(value, str) and _parse(value) is _NOT_JSON:
            return value
    except RecursionError:
        pass  # too deep to tell from here; `decode` may stand higher on the stack, so this counts as JSON
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode(raw: str) -> Any:
    """The value that `encode` was given."""
    try:
        value = _parse(raw)
    except RecursionError:  # brackets nested deeper than any value we wrote
        return raw
    return raw if value is _NOT_JSON else value


_NOT_JSON = object()


def _parse(text: str) -> Any:
    if text[:1] not in _JSON_STARTS:
        return _NOT_JSON
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        return _NOT_JSON


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _decoded(fields: store.Fields) -> WorkingMemory:
    data = {name: decode(raw) for name, raw in fields.values.items()}
    return WorkingMemory(data=data, ttl_seconds=fields.ttl, size_bytes=fields.size)
