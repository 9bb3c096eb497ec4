"""What holds now, asked on every path: from this process's memory, and without PostgreSQL when it is away."""

import json
import logging
import threading
import time
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from tenants.errors import Overdue
from tenants.policy.document import Policy
from tenants.policy.overrides import Document, combine
from tenants.scope import scope

SERVES_STALE = 3_600  # seconds for which a policy outlives the database that it came from
RETRY_AFTER = 5  # seconds, so that an outage does not make every call wait for the same refusal
TENANTS_KEPT = 10_000

# One step of the index for each level, from the last to the first: DISTINCT ON would read every version.
NEWEST = """
WITH RECURSIVE newest AS (
    (SELECT agent_id, document FROM tenants_policyversion
     WHERE tenant_id = %(tenant)s ORDER BY agent_id DESC, version DESC LIMIT 1)
    UNION ALL
    SELECT before.* FROM newest CROSS JOIN LATERAL (
        SELECT agent_id, document FROM tenants_policyversion
        WHERE tenant_id = %(tenant)s AND agent_id < newest.agent_id
        ORDER BY agent_id DESC, version DESC LIMIT 1) AS before
)
SELECT agent_id, document FROM newest
"""

logger = logging.getLogger(__name__)


def read_policy(*, tenant_id: UUID, agent_id: str = "") -> Policy:
    """What holds for the tenant, or for one of its agents.

    A change takes effect within `API_KEY_CACHE_SECONDS`. While PostgreSQL is away, what was last known serves
    for an hour, then the deployment's defaults. Reads from PostgreSQL at most once in that time per tenant,
    joining the scope of that tenant if one is open.
    """
    known = _cache.get(tenant_id)
    return known.compiled.get(agent_id) or known.compile(agent_id)


def forget(tenant_id: UUID) -> None:
    """Has this process ask PostgreSQL again: whoever changes a policy sees the change at once."""
    _cache.forget(tenant_id)


class _Known:
    """The newest documents of a tenant, "" being its own, and what was made of them on demand."""

    __slots__ = ("compiled", "documents", "fresh_until", "is_outdated", "read_at")

    def __init__(self, documents: dict[str, Document], read_at: float, fresh_until: float) -> None:
        self.documents, self.read_at, self.fresh_until = documents, read_at, fresh_until
        self.is_outdated = False  # has been changed since: serves only while PostgreSQL is away
        self.compiled: dict[str, Policy] = {}

    def compile(self, agent_id: str) -> Policy:
        """An agent without a document of its own is not kept: anybody may make up names."""
        own = self.documents.get(agent_id) if agent_id else None
        level = agent_id if own is not None else ""
        policy = self.compiled.get(level)
        if policy is None:
            policy = self.compiled[level] = combine(self.documents.get("", {}), own or {})
        return policy


class _PolicyCache:
    """One entry for each of the tenants asked about last."""

    def __init__(self, limit: int = TENANTS_KEPT) -> None:
        self._known: dict[UUID, _Known] = {}
        # The question that PostgreSQL is being asked about a tenant. A change ends it: what was read before
        # the change is answered to whoever asked, and not kept.
        self._asking: dict[UUID, object] = {}
        self._lock = threading.Lock()
        self._limit = limit

    def get(self, tenant_id: UUID) -> _Known:
        known = self._known.get(tenant_id)
        if known is not None and known.fresh_until > time.monotonic():
            return known
        with self._lock:
            known = self._known.get(tenant_id)
            if known is not None and not known.is_outdated and tenant_id in self._asking:
                return known  # another thread asks already; it would only be known sooner by waiting
            question = self._asking.setdefault(tenant_id, object())
        fresh = None
        try:
            fresh = _refreshed(tenant_id, known)
        finally:
            self._end(tenant_id, question, fresh)
        return fresh

    def forget(self, tenant_id: UUID) -> None:
        with self._lock:
            self._asking.pop(tenant_id, None)
            known = self._known.get(tenant_id)
            if known is not None:
                known.fresh_until, known.is_outdated = 0.0, True

    def _end(self, tenant_id: UUID, question: object, answer: _Known | None) -> None:
        with self._lock:
            if self._asking.get(tenant_id) is not question:
                return
            del self._asking[tenant_id]
            if answer is None:
                return
            self._known.pop(tenant_id, None)
            while len(self._known) >= self._limit:
                del self._known[next(iter(self._known))]  # whoever was read longest ago
            self._known[tenant_id] = answer


def _refreshed(tenant_id: UUID, known: _Known | None) -> _Known:
    started = time.monotonic()  # from before the answer, not after it
    try:
        documents = _newest(tenant_id)
    except (OperationalError, InterfaceError, Overdue) as error:
        logger.warning("policy not read, PostgreSQL is away: %s", type(error).__name__)
        return _makeshift(known)
    fresh = _Known(documents, started, started + settings.API_KEY_CACHE_SECONDS)
    if known is not None and known.documents == documents:
        fresh.compiled = known.compiled
    return fresh


def _makeshift(known: _Known | None) -> _Known:
    """What serves until PostgreSQL is back."""
    now = time.monotonic()
    if known is None or now - known.read_at >= SERVES_STALE:
        return _Known({}, now - SERVES_STALE, now + RETRY_AFTER)
    kept = _Known(known.documents, known.read_at, now + RETRY_AFTER)
    kept.compiled = known.compiled
    return kept


def _newest(tenant_id: UUID) -> dict[str, Document]:
    with scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(NEWEST, {"tenant": tenant_id})
        return {agent_id: json.loads(document) for agent_id, document in cursor.fetchall()}


_cache = _PolicyCache()
