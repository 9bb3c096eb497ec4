"""A session's ledger in Redis: a copy of the live injections in PostgreSQL, checked in one script."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from django.conf import settings

from ledger import keys
from tenants.caller import Caller
from tenants.restrictions import refuse_restricted
from tenants.system import is_system
from working import activity
from working.keys import all_of as session_keys
from working.redis import SERVER_SCRIPT, RedisAway, Script
from working.store import MARK_DIES_AFTER
from working.types import SessionRef

NOTHING: Mapping[str, str] = MappingProxyType({})
DONE, EXPIRED = 1, 2  # as the scripts answer them
_FOLDER = Path(__file__).parent / "scripts"
_STATE = _FOLDER / "state.lua"

_read = Script(SERVER_SCRIPT, _STATE, _FOLDER / "read.lua")
_mark = Script(SERVER_SCRIPT, _STATE, _FOLDER / "mark.lua")
_settle = Script(SERVER_SCRIPT, _STATE, _FOLDER / "settle.lua")
_load = Script(SERVER_SCRIPT, _STATE, _FOLDER / "load.lua")
_forget = Script(SERVER_SCRIPT, _STATE, _FOLDER / "forget.lua")

Change = Literal["set", "evict", "none"]


class Expired(Exception):
    """The conversation has expired: its marks are to be released, then the call repeated."""


def read_item(*, caller: Caller, ref: SessionRef, now: float, item_key: str) -> tuple[bool, str | None, str]:
    """Whether the copy can be trusted, the item's marker if it has one, and the copy's generation."""
    code, generation, *rest = _call(_read, caller, ref, now, [item_key])
    return bool(code), rest[0][0] if rest else None, generation


def read_items(*, caller: Caller, ref: SessionRef, now: float) -> tuple[bool, dict[str, str], str]:
    """Whether the copy can be trusted, all items, and the copy's generation."""
    code, generation, *rest = _call(_read, caller, ref, now, [])
    flat = rest[0] if rest else []
    return bool(code), dict(zip(flat[::2], flat[1::2], strict=True)), generation


def mark(*, caller: Caller, ref: SessionRef, now: float, token: str, looked_up: bool) -> bool:
    """Marks the copy as not to be trusted until `settle`. False when Redis has none that is known to be the
    caller's; `looked_up` says that PostgreSQL has answered whose it is."""
    return bool(_call(_mark, caller, ref, now, [token, int(looked_up)])[0])


def settle(
    *,
    caller: Caller,
    ref: SessionRef,
    now: float,
    token: str,
    change: Change,
    items: Mapping[str, str] = NOTHING,
) -> None:
    """Takes the mark away and applies what was committed to the items. Redis going away here is no error:
    the mark it keeps, or the loss of it all, makes the next reader load again."""
    with suppress(RedisAway):
        flat = [part for pair in items.items() for part in pair]
        _call(_settle, caller, ref, now, [token, change, *flat])


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


def forget(*, ref: SessionRef, now: float, token: str) -> None:
    """Removes the session's ledger and the mark of that token."""
    _run(_forget, ref, [int(now), "", "", settings.SESSION_MAX_AGE_SECONDS, token, MARK_DIES_AFTER])


def _call(script: Script, caller: Caller, ref: SessionRef, now: float, args: list[Any]) -> list[Any]:
    refuse_restricted(tenant_id=ref.tenant_id, user_id=ref.user_id)
    head = [int(now), caller.agent_id, caller.project, settings.SESSION_MAX_AGE_SECONDS]
    answer = _run(script, ref, [*head, *args])
    if answer[0] == DONE and not is_system(caller):
        activity.note(ref=ref, now=now)
    return answer


def _run(script: Script, ref: SessionRef, args: list[Any]) -> list[Any]:
    answer: list[Any] = script([keys.state(ref), keys.items(ref), *session_keys(ref)], args)
    if answer[0] == EXPIRED:
        raise Expired
    return answer
