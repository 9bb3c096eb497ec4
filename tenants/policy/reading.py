"""What holds now, asked on every path: from this process's memory, and without PostgreSQL when it is away."""

import logging
import threading
import time
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError

from tenants.models import PolicyVersion
from tenants.policy.document import Policy
from tenants.policy.overrides import Document, combine
from tenants.scope import scope

SERVES_STALE = 3_600  # seconds for which a policy outlives the database that it came from
RETRY_AFTER = 5  # seconds, so that an outage does not make every call wait for the same refusal
TENANTS_KEPT = 10_000

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

    __slots__ = ("compiled", "documents", "fresh_until", "read_at")

    def __init__(self, documents: dict[str, Document], read_at: float, fresh_until: float) -> None:
        self.documents, self.read_at, self.fresh_until = documents, read_at, fresh_until
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
        self._asking: set[UUID] = set()
        self._lock = threading.Lock()
        self._limit = limit

    def get(self, tenant_id: UUID) -> _Known:
        known = self._known.get(tenant_id)
        if known is not None and known.fresh_until > time.monotonic():
            return known
        with self._lock:
            if known is not None and tenant_id in self._asking:
                return known  # another thread asks already; it would only be known sooner by waiting
            self._asking.add(tenant_id)
        try:
            fresh = _refreshed(tenant_id, known)
        finally:
            self._asking.discard(tenant_id)
        with self._lock:
            self._known.pop(tenant_id, None)
            while len(self._known) >= self._limit:
                del self._known[next(iter(self._known))]  # whoever was read longest ago
            self._known[tenant_id] = fresh
        return fresh

    def forget(self, tenant_id: UUID) -> None:
        known = self._known.get(tenant_id)
        if known is not None:
            known.fresh_until = 0.0


def _refreshed(tenant_id: UUID, known: _Known | None) -> _Known:
    started = time.monotonic()  # from before the answer, not after it
    try:
        documents = _newest(tenant_id)
    except (OperationalError, InterfaceError) as error:
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
    with scope(tenant_id):
        found = PolicyVersion.objects.filter(tenant_id=tenant_id).order_by("agent_id", "-version")
        return dict(found.distinct("agent_id").values_list("agent_id", "document"))


_cache = _PolicyCache()
