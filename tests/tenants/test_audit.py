"""An entry exists exactly when the deed does."""

import pytest
from django.db import IntegrityError
from django.utils import timezone

from tenants import audit
from tenants.api_keys import create_api_key, revoke_api_key
from tenants.models import ApiKey, AuditEntry, Tenant
from tenants.router import admin_role
from tenants.scope import NoTenantScope, scope
from tenants.tenancy import create_tenant


@pytest.fixture
def broken_log(monkeypatch):
    """An audit log that cannot be written to."""

    def fail(**_details: object) -> None:
        raise IntegrityError("the log is full")

    monkeypatch.setattr(audit, "record", fail)


def actions(tenant: Tenant) -> list[str]:
    with admin_role():
        entries = AuditEntry.objects.filter(tenant=tenant).order_by("at")
        return list(entries.values_list("action", flat=True))


def test_every_deed_leaves_its_entry(acme_tenant):
    key, _text = create_api_key(tenant=acme_tenant, actor="test")
    revoke_api_key(key=key, actor="test", now=timezone.now())
    assert actions(acme_tenant) == ["tenant.create", "api_key.create", "api_key.revoke"]


@pytest.mark.usefixtures("broken_log")
def test_no_tenant_is_made_without_an_entry():
    with pytest.raises(IntegrityError):
        create_tenant(slug="unlogged", name="x", actor="test")
    with admin_role():
        assert not Tenant.objects.filter(slug="unlogged").exists()


def test_no_key_is_made_or_revoked_without_an_entry(acme_tenant, request):
    key, _text = create_api_key(tenant=acme_tenant, actor="test")
    request.getfixturevalue("broken_log")
    with pytest.raises(IntegrityError):
        create_api_key(tenant=acme_tenant, actor="test")
    with pytest.raises(IntegrityError):
        revoke_api_key(key=key, actor="test", now=timezone.now())
    with admin_role():
        assert [row.revoked_at for row in ApiKey.objects.filter(tenant=acme_tenant)] == [None]


def test_an_entry_goes_when_the_deed_is_undone(acme_tenant):
    with pytest.raises(ZeroDivisionError), scope(acme_tenant.id):  # noqa: PT012
        audit.record(tenant_id=acme_tenant.id, actor="test", action="memory.erase")
        raise ZeroDivisionError
    assert actions(acme_tenant) == ["tenant.create"]


def test_the_app_role_adds_entries_of_its_own_tenant_in_its_scope(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        audit.record(tenant_id=acme_tenant.id, actor="key:1", action="memory.erase", target="ann", rows=3)
        assert AuditEntry.objects.get(action="memory.erase").details == {"rows": 3}
    with pytest.raises(NoTenantScope):
        audit.record(tenant_id=acme_tenant.id, actor="key:1", action="memory.erase")
    with pytest.raises(Exception, match="row-level security"), scope(globex_tenant.id):
        audit.record(tenant_id=acme_tenant.id, actor="key:1", action="memory.erase")
    assert actions(globex_tenant) == ["tenant.create"]
