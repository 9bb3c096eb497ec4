"""Letting time pass over a tenant's sessions, and looking at what Redis knows of their use."""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django_redis import get_redis_connection

from tenants.caller import Caller
from tenants.scope import scope
from working import activity, keys
from working.models import Session
from working.types import SessionRef

IDLE = 1_800  # seconds, by default
NOTE = IDLE / activity.PRECISION


def moment(ref: SessionRef) -> float | None:
    """From which moment the session counts as idle."""
    return get_redis_connection().zscore(keys.IDLE, keys.tag(ref))


def tags(caller: Caller) -> list[str]:
    """What the set holds of the tenant."""
    found = get_redis_connection().zrange(keys.IDLE, 0, -1)
    return [one for one in found if caller.tenant_id.hex in one]


def let_pass(caller: Caller, seconds: float) -> None:
    """As if so much time had passed since everything that was done to the tenant's sessions."""
    past = timedelta(seconds=seconds)
    moved: dict[str, Any] = {name: F(name) - past for name in ("started_at", "opened_at", "last_activity_at")}
    with scope(caller.tenant_id):
        Session.objects.filter(tenant_id=caller.tenant_id).update(**moved)
    for tag in tags(caller):
        get_redis_connection().zincrby(keys.IDLE, -seconds, tag)
    for ref, (since, until, agent) in list(activity._noted.items()):
        if ref.tenant_id == caller.tenant_id:
            activity._noted[ref] = (since - seconds, until - seconds, agent)


def lose_activity(caller: Caller) -> None:
    """Redis has lost what it knew of the tenant's sessions, long ago."""
    redis = get_redis_connection()
    if mine := tags(caller):
        redis.zrem(keys.IDLE, *mine)
    redis.zadd(keys.IDLE, {activity.BEGUN: -1})
    activity._noted.clear()
