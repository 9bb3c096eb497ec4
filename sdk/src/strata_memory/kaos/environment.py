"""The memory that a KAOS agent's environment asks for."""

import logging
import os
from collections.abc import Mapping

from .local import LocalMemory
from .memory import Memory
from .null import NullMemory
from .remote import RemoteMemory

logger = logging.getLogger(__name__)

YES, NO = {"true", "1", "yes", "on", "t", "y"}, {"false", "0", "no", "off", "f", "n"}
REMOTE = {"remote", "strata"}


def memory_from_env(environ: Mapping[str, str] | None = None) -> Memory:
    """The memory of `MEMORY_ENABLED`, `MEMORY_TYPE`, `MEMORY_CONTEXT_LIMIT`, `MEMORY_MAX_SESSIONS` and
    `MEMORY_MAX_SESSION_EVENTS`; a remote one of `STRATA_URL`, `STRATA_API_KEY` and `AGENT_NAME`.

    `redis` is a remote memory where there is a `STRATA_URL`, and else, as any type that is not known here, a
    local one; a warning says so. Raises ValueError for what cannot be read, and for a remote memory without
    its address.
    """
    env = os.environ if environ is None else environ
    memory = _memory(env)
    memory.context_limit = _number(env, "MEMORY_CONTEXT_LIMIT", 6)
    return memory


def _memory(env: Mapping[str, str]) -> Memory:
    sessions, events = (
        _number(env, "MEMORY_MAX_SESSIONS", 1000),
        _number(env, "MEMORY_MAX_SESSION_EVENTS", 500),
    )
    if not _flag(env, "MEMORY_ENABLED", default=True):
        return NullMemory()
    kind = env.get("MEMORY_TYPE", "local").strip().lower()
    if kind == "redis" and env.get("STRATA_URL"):
        logger.warning("No memory is kept in Redis here: it is on the Strata server of STRATA_URL")
        kind = "strata"
    if kind in REMOTE:
        return RemoteMemory(
            _needed(env, "STRATA_URL"),
            env.get("STRATA_API_KEY", ""),
            env.get("AGENT_NAME") or None,
            max_sessions=sessions,
            max_events_per_session=events,
        )
    if kind != "local":
        logger.warning("There is no memory of type %r here: it is kept in this process", kind)
    return LocalMemory(max_sessions=sessions, max_events_per_session=events)


def _needed(env: Mapping[str, str], name: str) -> str:
    if not env.get(name):
        raise ValueError(f"A remote memory needs {name}.")
    return env[name]


def _number(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"{name} has to be a whole number from 0 on.")
    return int(text)


def _flag(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = env.get(name, "").strip().lower()
    if not text:
        return default
    if text not in YES | NO:
        raise ValueError(f"{name} has to be true or false.")
    return text in YES
