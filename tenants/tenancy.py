"""Making and finding tenants."""

from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from tenants import audit
from tenants.errors import Conflict, Invalid
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.scope import unscoped


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


def find_tenant_id(slug: str) -> UUID | None:
    """The id of an enabled tenant, as the app role can learn it before a scope is open."""
    with unscoped(), connection.cursor() as cursor:
        cursor.execute("SELECT tenants_find_tenant(%s)", [slug])
        row = cursor.fetchone()
    return UUID(str(row[0])) if row and row[0] else None
