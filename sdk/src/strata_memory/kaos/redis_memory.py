"""The name of KAOS's memory in Redis."""

import logging
import os

from .remote import RemoteMemory

logger = logging.getLogger(__name__)


class RedisMemory(RemoteMemory):
    """What KAOS keeps in Redis, on the Strata server of `STRATA_URL` instead, so that agents which name this
    class keep a memory that outlives them and that their replicas share.

    `STRATA_API_KEY` and `AGENT_NAME` are as for a remote memory of the environment. `redis_url`, `key_prefix`
    and `session_ttl_hours` mean nothing: the server's retention decides how long sessions stay. A warning
    says where they are kept. Raises ValueError without `STRATA_URL`.
    """

    def __init__(
        self,
        redis_url: str = "",
        max_sessions: int = 1000,
        max_events_per_session: int = 500,
        key_prefix: str = "kaos:memory",
        session_ttl_hours: int = 24,
    ) -> None:
        url = os.environ.get("STRATA_URL")
        if not url:
            raise ValueError("No memory is kept in Redis here: STRATA_URL has to name a Strata server.")
        super().__init__(
            url,
            agent_name=os.environ.get("AGENT_NAME") or None,
            max_sessions=max_sessions,
            max_events_per_session=max_events_per_session,
        )
        logger.warning("RedisMemory keeps sessions on the Strata server of STRATA_URL, not in Redis")
