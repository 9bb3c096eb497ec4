"""Making and finding tenants."""

import re
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from tenants import audit
from tenants.errors import Conflict, Invalid
from tenants.lookups import LookupCache
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.scope import unscoped

UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
SLUG = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TenantName:
    """A tenant as callers need it: nothing but its two names."""

    id: UUID
    slug: str


def create_tenant(*, slug: str, name: str, actor: str) -> Tenant:
    """A new tenant. Raises Conflict when the slug is taken, Invalid when it is not a slug."""
    tenant = Tenant(slug=slug, name=name or slug)
    with admin_role(), transaction.atomic(using="admin"):
        try:
            tenant.full_clean(validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            raise Invalid("; ".join(error.messages), "slug") from error
        try:
            tenant.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict(f"A tenant named {slug!r} exists already.") from error
        audit.record(tenant_id=tenant.id, actor=actor, action="tenant.create", target=slug)
    return tenant


def get_tenant(slug: str) -> Tenant | None:
    """The tenant of that slug, for commands; runs as the admin role."""
    with admin_role():
        return Tenant.objects.filter(slug=slug).first()


def find_tenant(name: str) -> TenantName | None:
    """The enabled tenant of that UUID or slug, as the app role can learn it before a scope is open.

    What looks like a UUID is one: a tenant whose slug looks like another's id is not taken for it. Believed
    for `API_KEY_CACHE_SECONDS`, within which a disabled tenant is gone.
    """
    if not UUID_TEXT.fullmatch(name) and not SLUG.fullmatch(name):
        return None  # such as NUL, which must not get as far as PostgreSQL
    return _named.get(name, _find_named)


def _find_named(name: str) -> TenantName | None:
    wanted = (UUID(name), None) if UUID_TEXT.fullmatch(name) else (None, name)
    with unscoped(), connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, slug FROM tenants_find_named_tenant(%s, %s)", wanted)
        row = cursor.fetchone()
    return TenantName(UUID(str(row[0])), row[1]) if row else None


_named: LookupCache[TenantName] = LookupCache()
