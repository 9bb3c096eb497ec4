"""API keys: made once, shown once, looked up before a tenant is known."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from tenants import audit
from tenants.caller import SCOPES, Caller
from tenants.errors import Conflict, Invalid, Unauthenticated
from tenants.lookups import LookupCache
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role
from tenants.scope import unscoped

PREFIX = "mem"
MAX_OVERLAP_SECONDS = 30 * 86_400
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
    key = ApiKey(
        tenant=tenant,
        name=name,
        scopes=list(scopes),
        user_id=user_id,
        agent_id=agent_id,
        project=project,
        expires_at=expires_at,
    )
    with admin_role(), transaction.atomic(using="admin"):
        text = _store(key)
        audit.record(
            tenant_id=tenant.id, actor=actor, action="api_key.create", target=key.key_id, scopes=key.scopes
        )
    return key, text


def rotate_api_key(*, key: ApiKey, actor: str, overlap_seconds: int, now: datetime) -> tuple[ApiKey, str]:
    """A new key in the place of `key`, with its scopes, bindings and expiry, and the new one's full text.

    Both work for `overlap_seconds` more, so that callers can change over one by one; with 0 the old one is
    revoked. Raises Conflict for a key that is revoked or expired, or whose successor is in use: that one is
    to be rotated. Runs as the admin role.
    """
    if not 0 <= overlap_seconds <= MAX_OVERLAP_SECONDS:
        raise Invalid(f"An overlap lasts 0 to {MAX_OVERLAP_SECONDS} seconds.", "overlap_seconds")
    with admin_role(), transaction.atomic(using="admin"):
        old = ApiKey.objects.select_for_update().get(id=key.id)
        _refuse_rotation(old, now)
        new = ApiKey(
            tenant_id=old.tenant_id,
            name=old.name,
            scopes=old.scopes,
            user_id=old.user_id,
            agent_id=old.agent_id,
            project=old.project,
            expires_at=old.expires_at,
            replaces=old.key_id,
        )
        text = _store(new)
        if overlap_seconds:
            end = now + timedelta(seconds=overlap_seconds)
            old.expires_at = min(old.expires_at or end, end)
        else:
            old.revoked_at = now
        old.save(update_fields=["expires_at", "revoked_at"])
        audit.record(
            tenant_id=old.tenant_id,
            actor=actor,
            action="api_key.rotate",
            target=old.key_id,
            successor=new.key_id,
            overlap_seconds=overlap_seconds,
        )
    return new, text


def get_api_key(key_id: str) -> ApiKey | None:
    """The key of that id, for commands; runs as the admin role."""
    with admin_role():
        return ApiKey.objects.filter(key_id=key_id).first()


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
    record = _cache.get(parts["key_id"], _find)
    if record is None or not hmac.compare_digest(record.secret_hash, _hash(parts["secret"])):
        raise Unauthenticated("The API key is not valid.")
    if record.expires_at is not None and record.expires_at <= timezone.now():
        raise Unauthenticated("The API key is not valid.")
    return record.caller


def _store(key: ApiKey) -> str:
    """Gives the key an id and a secret and stores it in the open transaction; its full text."""
    key.key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    key.secret_hash = _hash(secret)
    key.save(force_insert=True)
    return f"{PREFIX}_{key.key_id}_{secret}"


def _refuse_rotation(key: ApiKey, now: datetime) -> None:
    if key.revoked_at is not None:
        raise Conflict("The key is revoked.")
    if key.expires_at is not None and key.expires_at <= now:
        raise Conflict("The key has expired.")
    successor = ApiKey.objects.filter(tenant_id=key.tenant_id, replaces=key.key_id, revoked_at=None).first()
    if successor is not None:
        raise Conflict(f"The key was rotated already; its successor is {successor.key_id}.")


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


_cache: LookupCache[KeyRecord] = LookupCache()
