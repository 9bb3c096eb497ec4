"""When sessions were last used: a sorted set in Redis, so that no read of one costs PostgreSQL anything.

Each session stands there with the moment from which it counts as idle. The set is a hint: whoever acts on it
asks PostgreSQL first, and what Redis loses is found again there. It is a key of its own beside the sessions'
slots, and no script touches both.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django_redis import get_redis_connection
from redis.exceptions import RedisError

from tenants.policy.reading import read_policy
from working import keys
from working.redis import Script, ask
from working.types import SessionRef

PRECISION = 20  # parts of the idle time; activity is noted once in each of them
REMEMBERED = 50_000  # sessions whose last note a process knows
SCANNED = 1_000  # members looked at in one command
BEGUN = "begun"  # the member that tells since when the set is complete

_drop = Script(Path(__file__).parent / "scripts" / "drop_idle.lua")
# From, until: between them, the session needs no other note. And the agent that it belongs to.
_noted: dict[SessionRef, tuple[float, float, str]] = {}


def idle_seconds(tenant_id: UUID, agent_id: str) -> int:
    """After how long without activity a session of that agent is idle."""
    return read_policy(tenant_id=tenant_id, agent_id=agent_id).session.idle_seconds


def note(*, ref: SessionRef, now: float, agent_id: str | None = None) -> None:
    """Says that the session is in use; `agent_id` None: whosever it is.

    Costs a look into a dictionary while this process has noted the session lately, else one command. Redis
    that is away is no error. A session is never idle early: it has the time between two notes on top.
    """
    last = _noted.get(ref)
    if last is not None and last[0] <= now < last[1]:
        return
    try:
        redis = get_redis_connection()
        if agent_id is None:
            agent_id = last[2] if last else redis.hget(keys.meta(ref), "agent") or ""
        idle = idle_seconds(ref.tenant_id, agent_id)
        redis.zadd(keys.IDLE, {keys.tag(ref): now + idle + idle / PRECISION})
    except RedisError:
        return  # what was to be noted has failed as well, or the sweep finds the session in PostgreSQL
    if len(_noted) >= REMEMBERED:
        _noted.clear()  # simple and rare; each is noted once more
    _noted[ref] = (now, now + idle / PRECISION, agent_id)


def due(*, now: float, limit: int) -> list[SessionRef]:
    """Up to `limit` sessions that count as idle by now, the longest idle first."""
    tags = ask(lambda redis: redis.zrangebyscore(keys.IDLE, 0, now, start=0, num=limit))
    refs, alien = [], []
    for tag in tags:
        try:
            refs.append(keys.read_tag(tag))
        except ValueError:
            alien.append(tag)
    if alien:
        ask(lambda redis: redis.zrem(keys.IDLE, *alien))
    return refs


def drop(*, refs: Iterable[SessionRef], now: float) -> None:
    """Takes the sessions off, except those that were used since they were due."""
    _drop([keys.IDLE], [now, *map(keys.tag, refs)])


def idle_from(refs: Sequence[SessionRef]) -> list[float | None]:
    """The moment from which each session counts as idle; None for one that is not known."""
    if not refs:
        return []
    return list(ask(lambda redis: redis.zmscore(keys.IDLE, [keys.tag(ref) for ref in refs])))


def correct(moments: Mapping[SessionRef, float]) -> None:
    """Puts off the moments to what PostgreSQL knows better; none becomes earlier."""
    if moments:
        known = {keys.tag(ref): moment for ref, moment in moments.items()}
        ask(lambda redis: redis.zadd(keys.IDLE, known, gt=True))


def used_at(moment: float, idle: float) -> float:
    """When a session was used that counts as idle from `moment`, idle time in seconds."""
    return moment - idle - idle / PRECISION


def forget(refs: Iterable[SessionRef]) -> None:
    """Removes sessions that are no more."""
    tags = []
    for ref in refs:
        _noted.pop(ref, None)
        tags.append(keys.tag(ref))
    if tags:
        ask(lambda redis: redis.zrem(keys.IDLE, *tags))


def forget_person(*, tenant_id: UUID, user_id: str) -> int:
    """Removes every session of a person; how many. Raises RedisAway."""
    pattern = keys.tags_of_person(tenant_id, user_id)

    def remove(redis: Any) -> int:
        tags = [tag for tag, _moment in redis.zscan_iter(keys.IDLE, match=pattern, count=SCANNED)]
        return sum(redis.zrem(keys.IDLE, *tags[i : i + SCANNED]) for i in range(0, len(tags), SCANNED))

    for ref in [ref for ref in list(_noted) if (ref.tenant_id, ref.user_id) == (tenant_id, user_id)]:
        _noted.pop(ref, None)
    return ask(remove)


def complete_since(*, now: float) -> float:
    """Since when every use is noted: before, Redis was empty, and a session that is missing may be in use."""

    def begin(redis: Any) -> float:
        redis.zadd(keys.IDLE, {BEGUN: -now}, nx=True)  # below zero, where no session stands
        return -float(redis.zscore(keys.IDLE, BEGUN) or -now)

    return ask(begin)
