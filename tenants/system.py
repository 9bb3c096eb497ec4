"""Who the server is when nobody calls it: the clock's own work on a tenant's data."""

from uuid import UUID

from tenants.caller import Caller

SYSTEM = "system"  # no key is named like that: their ids are hexadecimal


def system_caller(tenant_id: UUID) -> Caller:
    """The server itself, in one tenant. What it does counts as nobody's activity."""
    return Caller(tenant_id=tenant_id, tenant="", key_id=SYSTEM, scopes=frozenset({"admin"}), kind="key")


def is_system(caller: Caller) -> bool:
    """Whether nobody else calls."""
    return caller.kind == "key" and caller.key_id == SYSTEM
