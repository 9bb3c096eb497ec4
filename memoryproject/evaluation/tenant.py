"""The tenant that an evaluation stores its conversations in, and takes away again."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import UUID

from django.db import Error, connections
from django.utils import timezone

from ledger import latency
from tenants import usage
from tenants.caller import Caller
from tenants.models import Tenant
from tenants.system import system_caller
from tenants.tenancy import create_tenant
from tenants.till import Undecided

ACTOR = "command:evaluate"
OWNER = "owner"  # the only role that may delete a tenant's audit log, and so the tenant
ABANDONED_AFTER = timedelta(days=1)  # no evaluation takes that long: it was killed


@contextmanager
def throwaway_tenant() -> Iterator[Caller]:
    """The server itself in a new tenant, which is removed with all it holds however the block ends.

    One that an earlier evaluation could not remove, since it was killed, is removed first.
    """
    _remove(_abandoned())  # also tells before anything is stored whether the owner's role can be had
    slug = f"evaluation-{secrets.token_hex(6)}"
    tenant = create_tenant(slug=slug, name="Evaluation, removed when it ends", actor=ACTOR)
    try:
        yield system_caller(tenant.id)
    finally:
        _write_what_is_noted()
        _remove([tenant.id])


def _write_what_is_noted() -> None:
    """So that no thread stores the tenant's usage or recalls while the tenant is being removed."""
    for flush in (usage.flush, latency.flush):
        with suppress(Error, Undecided):
            flush()


def _abandoned() -> list[UUID]:
    """The tenants that evaluations have made, by the audit log, and left behind."""
    made = Tenant.objects.using(OWNER).filter(auditentry__actor=ACTOR, auditentry__action="tenant.create")
    old = made.filter(created_at__lt=timezone.now() - ABANDONED_AFTER)
    return list(old.values_list("id", flat=True))


def _remove(tenant_ids: list[UUID]) -> None:
    for tenant_id in tenant_ids:
        Tenant.objects.using(OWNER).filter(id=tenant_id).delete()
    connections[OWNER].close()  # not pooled
