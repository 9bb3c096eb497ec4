"""A session's ledger in Redis: a copy of the live injections in PostgreSQL, checked in one script."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from django_redis import get_redis_connection

from ledger import keys
from tenants.caller import Caller
from tenants.errors import Forbidden
from working.redis import AWAY, SERVER_SCRIPT, RedisAway, Script
from working.store import MARK_DIES_AFTER
from working.types import SessionRef

_FOLDER = Path(__file__).parent / "scripts"
_STATE = _FOLDER / "state.lua"

_read = Script(SERVER_SCRIPT, _STATE, _FOLDER / "read.lua")
_mark = Script(_STATE, _FOLDER / "mark.lua")
_settle = Script(_STATE, _FOLDER / "settle.lua")
_load = Script(SERVER_SCRIPT, _STATE, _FOLDER / "load.lua")

Change = Literal["set", "evict", "none"]


def read_item(*, caller: Caller, ref: SessionRef, now: float, item_key: str) -> tuple[bool, str | None, str]:
    """Whether the copy can be trusted, the item's marker if it has one, and the copy's generation."""
    code, generation, *rest = _call(_read, caller, ref, now, [item_key])
    return code == 2, rest[0][0] if rest else None, generation


def read_items(*, caller: Caller, ref: SessionRef, now: float) -> tuple[bool, dict[str, str], str]:
    """Whether the copy can be trusted, all items, and the copy's generation."""
    code, generation, *rest = _call(_read, caller, ref, now, [])
    flat = rest[0] if rest else []
    return code == 2, dict(zip(flat[::2], flat[1::2], strict=True)), generation


def mark(*, caller: Caller, ref: SessionRef, now: float, token: str) -> bool:
    """Marks the copy as not to be trusted until `settle`. False when Redis has none."""
    return bool(_call(_mark, caller, ref, now, [token])[0] == 2)


def settle(
    *,
    caller: Caller,
    ref: SessionRef,
    now: float,
    token: str,
    change: Change,
    item_key: str = "",
    value: str = "",
) -> None:
    """Takes the mark away and applies what was committed. Redis going away here is no error: the mark it
    keeps, or the loss of it all, makes the next reader load again."""
    with suppress(RedisAway):
        _call(_settle, caller, ref, now, [token, change, item_key, value])


def load(
    *,
    caller: Caller,
    ref: SessionRef,
    now: float,
    generation: str,
    owner: tuple[str, str],
    items: dict[str, str],
) -> None:
    """Puts the items of PostgreSQL in place, unless a writer came between. `owner`: agent and project."""
    flat = [part for pair in items.items() for part in pair]
    _call(_load, caller, ref, now, [generation, MARK_DIES_AFTER, *owner, *flat])


def forget(ref: SessionRef) -> None:
    """Removes the session's ledger."""
    try:
        get_redis_connection().delete(keys.state(ref), keys.items(ref))
    except AWAY as error:
        raise RedisAway("Redis is away.") from error


def _call(script: Script, caller: Caller, ref: SessionRef, now: float, args: list[Any]) -> list[Any]:
    head = [int(now), caller.agent_id, caller.project]
    answer: list[Any] = script([keys.state(ref), keys.items(ref)], head + args)
    if answer[0] == 1:
        raise Forbidden("This key does not reach this session.")
    return answer
