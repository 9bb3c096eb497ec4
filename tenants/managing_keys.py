"""API keys as a tenant's own admins see to them: only those of their tenant, whatever the admin role could
reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenants.api_keys import create_api_key, revoke_api_key, rotate_api_key
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role

MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key may do, whose memory it is bound to, and when it ends; an empty binding: any."""

    name: str
    scopes: tuple[str, ...]
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    expires_at: datetime | None = None


def list_keys(*, caller: Caller) -> list[ApiKey]:
    """The tenant's keys, those that work first, then the newest; the first five hundred. Raises Forbidden for
    whoever is no unbound admin."""
    with admin_role():
        return sorted(_keys(caller).order_by("-created_at")[:MOST_SHOWN], key=_has_ended)


def access_key(*, caller: Caller, key_id: str) -> ApiKey:
    """One of the tenant's keys. Raises NotFound, Forbidden."""
    with admin_role():
        found: ApiKey | None = _keys(caller).filter(key_id=key_id).first() if key_id.isalnum() else None
    if found is None:
        raise NotFound("There is no such key.")
    return found


def create_key(*, caller: Caller, new: NewKey, now: datetime) -> tuple[ApiKey, str]:
    """A new key and its full text, which nothing can show again. Raises Invalid, Forbidden."""
    _check(caller)
    if new.expires_at is not None and new.expires_at <= now:
        raise Invalid("Must be in the future.", "expires_at")
    return create_api_key(
        tenant=_tenant(caller),
        actor=caller.principal,
        scopes=new.scopes,
        name=new.name,
        user_id=new.user_id,
        agent_id=new.agent_id,
        project=new.project,
        expires_at=new.expires_at,
    )


def rotate_key(*, caller: Caller, key_id: str, overlap_seconds: int, now: datetime) -> tuple[ApiKey, str]:
    """The successor and its full text; see `rotate_api_key`."""
    key = access_key(caller=caller, key_id=key_id)
    return rotate_api_key(key=key, actor=caller.principal, overlap_seconds=overlap_seconds, now=now)


def revoke_key(*, caller: Caller, key_id: str, now: datetime) -> None:
    """Ends a key within seconds, for good. Raises Conflict for one that is revoked already."""
    key = access_key(caller=caller, key_id=key_id)
    if key.revoked_at is not None:
        raise Conflict("The key is revoked already.")
    revoke_api_key(key=key, actor=caller.principal, now=now)


def _has_ended(key: ApiKey) -> bool:
    return key.revoked_at is not None


def _keys(caller: Caller) -> Any:
    _check(caller)
    return ApiKey.objects.filter(tenant_id=caller.tenant_id)


def _check(caller: Caller) -> None:
    bindings: Sequence[str] = (caller.user_id, caller.agent_id, caller.project)
    if not caller.may("admin") or any(bindings):
        raise Forbidden("Only an admin of the whole tenant may see to its keys.")


def _tenant(caller: Caller) -> Tenant:
    return Tenant(id=caller.tenant_id, slug=caller.tenant)
