"""A session in Redis: every access is one script in the session's slot."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from tenants.caller import Caller
from tenants.policy.reading import read_policy
from tenants.restrictions import refuse_restricted
from tenants.system import is_system
from working import activity, keys
from working.redis import SERVER_SCRIPT, RedisAway, Script, ask
from working.types import SessionRef

UNKNOWN = 0  # as the scripts answer it
MARK_DIES_AFTER = 60  # seconds: longer than any transaction here can take
_FOLDER = Path(__file__).parent / "scripts"
_SESSION = _FOLDER / "session.lua"

_adopt = Script(SERVER_SCRIPT, _FOLDER / "adopt.lua")
_read_fields = Script(_SESSION, _FOLDER / "read_fields.lua")
_keep_fields = Script(_SESSION, _FOLDER / "keep_fields.lua")
_write_fields = Script(_SESSION, _FOLDER / "write_fields.lua")
_delete_fields = Script(_SESSION, _FOLDER / "delete_fields.lua")
_touch = Script(_SESSION, _FOLDER / "touch.lua")
_mark = Script(_SESSION, _FOLDER / "mark.lua")
_settle = Script(_SESSION, SERVER_SCRIPT, _FOLDER / "settle.lua")
_window = Script(_SESSION, SERVER_SCRIPT, _FOLDER / "window.lua")
_rebuild = Script(_SESSION, SERVER_SCRIPT, _FOLDER / "rebuild.lua")


@dataclass(frozen=True, slots=True)
class Fields:
    """The raw hash, its remaining hold in seconds and its size in bytes (0 when not measured).

    `kept`: the names that came with the whole session last, and of which version it was; 0: none has come.
    """

    values: dict[str, str]
    ttl: int
    size: int
    kept: frozenset[str] = frozenset()
    version: int = 0


@dataclass(frozen=True, slots=True)
class CachedTurns:
    """The tail of the turns list. Not `coherent`: PostgreSQL knows better."""

    coherent: bool
    generation: str
    length: int
    summary: str
    agent_id: str
    compacted: int
    entries: list[str]


@dataclass(frozen=True, slots=True)
class Marked:
    """A session whose list is not to be trusted for the moment."""

    agent_id: str


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit did to a session: event numbers before and after, the turns among them, how many turns
    there are; a new summary, and the newest event that windows leave to it.

    With `reload` the next reader loads the turns. `unlogged`: they are in no log, so what the list holds
    stays, without those that are `withdrawn`.
    """

    seq: tuple[int, int]
    agent_id: str
    project: str
    entries: Sequence[str] = ()
    summary: str | None = None
    turn_count: int = 0
    compacted: int = 0
    reload: bool = False
    unlogged: bool = False
    withdrawn: Sequence[int] = ()


def adopt(
    *,
    ref: SessionRef,
    agent_id: str,
    project: str,
    last_seq: int,
    turn_count: int,
    compacted: int,
    now: float,
) -> bool:
    """Makes a session that PostgreSQL holds known to Redis, which keeps it as its agent's policy says now.
    Whether Redis did not know it."""
    held = read_policy(tenant_id=ref.tenant_id, agent_id=agent_id).session
    owner = [str(ref.tenant_id), ref.user_id]
    born = _adopt(
        [keys.meta(ref)],
        [
            *(int(now), held.max_age_seconds, held.ttl_seconds, agent_id, project, last_seq),
            *(*owner, turn_count, compacted),
        ],
    )
    return bool(born)


def read_fields(*, caller: Caller, ref: SessionRef, now: float, measure: bool) -> Fields | None:
    """The hash; None when Redis does not know the session."""
    answer = _call(_read_fields, caller, ref, now, [int(measure)])
    if answer is None:
        return None
    ttl, size, kept, version, flat = answer
    return Fields(_pairs(flat), ttl, size, frozenset(json.loads(kept)), int(version))


def peek_fields(*, ref: SessionRef) -> dict[str, str]:
    """The hash as it stands, for whoever looks on: the session's hold is not renewed."""
    refuse_restricted(tenant_id=ref.tenant_id, user_id=ref.user_id)
    found: dict[str, str] = ask(lambda redis: redis.hgetall(keys.fields(ref)))
    return found


def peek_some(*, refs: Sequence[SessionRef], names: Sequence[str]) -> list[dict[str, str]]:
    """Those of the named fields that each session's hash has, likewise; also of restricted people."""

    def read(redis: Any) -> list[list[str | None]]:
        pipeline = redis.pipeline(transaction=False)
        for ref in refs:
            pipeline.hmget(keys.fields(ref), names)
        return list(pipeline.execute())

    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in ask(read)
    ]


def write_fields(
    *, caller: Caller, ref: SessionRef, now: float, values: dict[str, str], ttl: int | None, undo_above: int
) -> Fields | None:
    """Merges `values`; above `undo_above` bytes (0: never) puts the old values back. None as above."""
    flat = [part for pair in values.items() for part in pair]
    answer = _call(_write_fields, caller, ref, now, ["" if ttl is None else ttl, undo_above, *flat])
    return None if answer is None else Fields(_pairs(answer[2]), answer[0], answer[1])


def keep_fields(
    *, caller: Caller, ref: SessionRef, now: float, values: Mapping[str, str], version: int
) -> None:
    """Puts `values` in place of those that came with the whole session before, unless a later version of it
    was here first. What was put there otherwise stays. A session that Redis does not know is left alone."""
    flat = [part for pair in values.items() for part in pair]
    _call(_keep_fields, caller, ref, now, [version, json.dumps(list(values)), *flat])


def delete_fields(
    *, caller: Caller, ref: SessionRef, now: float, names: Sequence[str] | None
) -> list[str] | None:
    """Deletes the named fields, or all for None; answers those that were there. None as above."""
    answer = _call(_delete_fields, caller, ref, now, ["all"] if names is None else ["some", *names])
    return None if answer is None else list(answer[0])


def touch(*, caller: Caller, ref: SessionRef, now: float) -> bool:
    """Renews the session's hold. False: Redis does not know the session."""
    return _call(_touch, caller, ref, now, []) is not None


def mark(*, caller: Caller, ref: SessionRef, now: float, token: str) -> Marked | None:
    """Marks the turns list as not to be trusted until `settle`. None: Redis does not know the session."""
    answer = _call(_mark, caller, ref, now, [token])
    return None if answer is None else Marked(*answer)


def settle(
    *,
    caller: Caller,
    ref: SessionRef,
    now: float,
    token: str,
    committed: Committed | None,
) -> None:
    """Takes the mark away and applies what was committed; None: nothing was.

    Redis going away here is no error: the mark it keeps, or the loss of it all, makes the next reader
    rebuild. Only turns that are in no log are lost then: RedisAway is raised.
    """
    change = committed or Committed(seq=(-1, -1), agent_id="", project="")
    summary = "" if change.summary is None else f"s{change.summary}"
    args = [token, *change.seq, settings.WORKING_LIST_LENGTH, summary, change.agent_id, change.project]
    args += [change.turn_count, change.compacted, int(change.reload), int(change.unlogged)]
    args += [len(change.withdrawn), *change.withdrawn]
    if not (change.unlogged and (change.entries or change.withdrawn)):
        with suppress(RedisAway):
            _call(_settle, caller, ref, now, [*args, *change.entries])
    elif _call(_settle, caller, ref, now, [*args, *change.entries]) is None:
        raise RedisAway("Redis has just lost this session.")


def read_turns(*, caller: Caller, ref: SessionRef, now: float, count: int) -> CachedTurns | None:
    """The newest `count` entries of the turns list. None when Redis does not know the session."""
    answer = _call(_window, caller, ref, now, [count])
    return None if answer is None else CachedTurns(answer[0] == 1, *answer[1:])


def rebuild(
    *,
    caller: Caller,
    ref: SessionRef,
    now: float,
    generation: str,
    seq: int,
    summary: str,
    turn_count: int,
    compacted: int,
    entries: Sequence[str],
) -> None:
    """Puts a list loaded from PostgreSQL in place, unless a writer came between."""
    head = [generation, MARK_DIES_AFTER, seq, summary, turn_count, compacted]
    _call(_rebuild, caller, ref, now, [*head, *entries])


def forget(ref: SessionRef) -> None:
    """Removes every key of the session."""
    ask(lambda redis: redis.delete(*keys.all_of(ref)))


def _call(script: Script, caller: Caller, ref: SessionRef, now: float, args: list[Any]) -> list[Any] | None:
    refuse_restricted(tenant_id=ref.tenant_id, user_id=ref.user_id)
    head = [int(now), settings.SESSION_MAX_AGE_SECONDS, caller.agent_id, caller.project]
    answer: list[Any] = script(keys.all_of(ref), head + args)
    agent_id, *rest = answer
    if agent_id == UNKNOWN:
        return None
    if not is_system(caller):
        activity.note(ref=ref, now=now, agent_id=agent_id)
    return rest


def _pairs(flat: list[str]) -> dict[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))
