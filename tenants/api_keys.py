"""API keys: made once, shown once, looked up before a tenant is known."""

import hashlib
import hmac
import re
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from tenants import audit
from tenants.caller import SCOPES, Caller
from tenants.errors import Invalid, Unauthenticated
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role
from tenants.scope import unscoped

PREFIX = "mem"
# As `create_api_key` makes them. Anything else, such as NUL, must not get as far as PostgreSQL.
WELL_FORMED = re.compile(rf"{PREFIX}_(?P<key_id>[0-9a-f]{{16}})_(?P<secret>[A-Za-z0-9_-]{{1,256}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What the lookup function returns for one key."""

    caller: Caller
    secret_hash: str
    expires_at: datetime | None


def create_api_key(
    *,
    tenant: Tenant,
    actor: str,
    scopes: tuple[str, ...] = ("read", "write"),
    name: str = "",
    user_id: str = "",
    agent_id: str = "",
    project: str = "",
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its full text, which nothing can show again. Runs as the admin role."""
    unknown = set(scopes) - set(SCOPES)
    if unknown or not scopes:
        raise Invalid(
            f"Scopes are {', '.join(SCOPES)}; not {', '.join(sorted(unknown)) or 'none'}.", "scopes"
        )
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with admin_role(), transaction.atomic(using="admin"):
        key = ApiKey.objects.create(
            tenant=tenant,
            key_id=key_id,
            secret_hash=_hash(secret),
            name=name,
            scopes=list(scopes),
            user_id=user_id,
            agent_id=agent_id,
            project=project,
            expires_at=expires_at,
        )
        audit.record(
            tenant_id=tenant.id, actor=actor, action="api_key.create", target=key_id, scopes=list(scopes)
        )
    return key, f"{PREFIX}_{key_id}_{secret}"


def revoke_api_key(*, key: ApiKey, actor: str, now: datetime) -> None:
    """Ends a key; every process refuses it within `API_KEY_CACHE_SECONDS`. Runs as the admin role."""
    with admin_role(), transaction.atomic(using="admin"):
        key.revoked_at = now
        key.save(update_fields=["revoked_at"])
        audit.record(tenant_id=key.tenant_id, actor=actor, action="api_key.revoke", target=key.key_id)


def authenticate(text: str) -> Caller:
    """The caller behind a key's text. Raises Unauthenticated; why exactly, the caller is not told."""
    parts = WELL_FORMED.fullmatch(text)
    if parts is None:
        raise Unauthenticated("The API key is not valid.")
    record = _cache.get(parts["key_id"])
    if record is None or not hmac.compare_digest(record.secret_hash, _hash(parts["secret"])):
        raise Unauthenticated("The API key is not valid.")
    if record.expires_at is not None and record.expires_at <= timezone.now():
        raise Unauthenticated("The API key is not valid.")
    return record.caller


def _hash(secret: str) -> str:
    """SHA-256 suffices: the secret has 256 random bits, so there is nothing to guess slowly."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _find(key_id: str) -> KeyRecord | None:
    with unscoped(), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM tenants_find_api_key(%s)", [key_id])
        row = cursor.fetchone()
    if row is None:
        return None
    tenant_id, tenant, secret_hash, scopes, user_id, agent_id, project, expires_at = row
    caller = Caller(
        tenant_id=UUID(str(tenant_id)),
        tenant=tenant,
        key_id=key_id,
        scopes=frozenset(scopes),
        user_id=user_id,
        agent_id=agent_id,
        project=project,
    )
    return KeyRecord(caller, secret_hash, expires_at)


class _KeyCache:
    """Key records of this process, each for at most `API_KEY_CACHE_SECONDS`; unknown ids are not kept."""

    def __init__(self, limit: int = 10_000) -> None:
        self._records: dict[str, tuple[float, KeyRecord]] = {}
        self._lock = threading.Lock()
        self._limit = limit

    def get(self, key_id: str) -> KeyRecord | None:
        found = self._records.get(key_id)
        if found is not None and found[0] > time.monotonic():
            return found[1]
        expires = time.monotonic() + settings.API_KEY_CACHE_SECONDS  # from before the answer, not after it
        record = _find(key_id)
        with self._lock:
            if record is None:
                self._records.pop(key_id, None)
            else:
                if len(self._records) >= self._limit:
                    self._records.clear()  # simple and rare; every entry lives for seconds anyway
                self._records[key_id] = (expires, record)
        return record


_cache = _KeyCache()
