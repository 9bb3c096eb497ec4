"""Failed sign-ins: whoever guesses passwords must wait, and so must who tries invitations. Counted in Redis,
by name (of an account, or an invitation's link) and by address.

Without Redis nothing is counted, and signing in works: to lock everybody out would be worse.
"""

import hashlib
import logging

from django_redis import get_redis_connection
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

WINDOW = 300  # seconds for which a failure counts
LIMITS = {"name": 10, "address": 50}  # several people may share an address


def is_locked(*, name: str, address: str) -> bool:
    """Whether too many sign-ins of that name, or from there, have failed of late."""
    keys = _keys(name, address)
    try:
        counts = get_redis_connection().mget(list(keys.values()))
    except RedisError:
        log.warning("sign_in_uncounted")
        return False
    return any(int(count or 0) >= LIMITS[kind] for kind, count in zip(keys, counts, strict=True))


def note_failure(*, name: str, address: str) -> None:
    """Counts one."""
    try:
        pipeline = get_redis_connection().pipeline(transaction=False)
        for key in _keys(name, address).values():
            pipeline.incr(key)
            pipeline.expire(key, WINDOW)
        pipeline.execute()
    except RedisError:
        log.warning("sign_in_uncounted")


def _keys(name: str, address: str) -> dict[str, str]:
    """Digests: neither names nor addresses stand in Redis."""
    parts = {"name": name.casefold(), "address": address}
    return {
        kind: f"signin:{kind}:{hashlib.sha256(text.encode()).hexdigest()}" for kind, text in parts.items()
    }
