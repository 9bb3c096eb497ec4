"""`manage.py create_tenant` and what stands behind it."""

import io
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from tenants.errors import Conflict, Invalid
from tenants.models import AuditEntry, Tenant
from tenants.router import admin_role
from tenants.tenancy import create_tenant, find_tenant, get_tenant


def create(*args: str) -> UUID:
    out = io.StringIO()
    call_command("create_tenant", *args, stdout=out)
    return UUID(out.getvalue().strip())


def test_the_command_prints_the_new_tenants_id():
    made = create("created", "--name", "Créated & Co")
    assert get_tenant("created").id == find_tenant("created").id == made
    assert get_tenant("created").name == "Créated & Co"


def test_a_tenant_without_a_name_is_called_by_its_slug():
    create("nameless")
    assert get_tenant("nameless").name == "nameless"


def test_a_slug_that_is_taken_is_refused(acme_tenant):
    with pytest.raises(CommandError, match="exists already"):
        create(acme_tenant.slug)
    assert get_tenant(acme_tenant.slug).id == acme_tenant.id


def test_of_those_who_want_one_slug_at_once_one_gets_it():
    def want(number: int) -> bool:
        try:
            create_tenant(slug="wanted", name=str(number), actor="test")
        except Conflict:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(want, range(8))) == 1


@pytest.mark.parametrize("slug", ["", "with space", "sla/sh", "ümlaut", "x" * 64, "nul\0", "a\n"])
def test_what_is_no_slug_is_refused(slug):
    with pytest.raises(Invalid):
        create_tenant(slug=slug, name="x", actor="test")
    with admin_role():
        assert not Tenant.objects.filter(name="x").exists()


def test_a_name_that_is_too_long_is_refused():
    with pytest.raises(CommandError, match="200 characters"):
        create("long-name", "--name", "x" * 201)


def test_unknown_tenants_are_not_found():
    assert get_tenant("nobody") is None
    assert find_tenant("nobody") is None


def test_a_tenant_has_an_entry_in_the_audit_log_from_the_start():
    made = create("audited")
    with admin_role():
        entry = AuditEntry.objects.get(tenant_id=made)
    assert (entry.actor, entry.action, entry.target) == ("command:create_tenant", "tenant.create", "audited")
