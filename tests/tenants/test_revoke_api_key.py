"""`manage.py revoke_api_key`: a key ends at once, for good."""

import pytest
from django.core.management import CommandError, call_command

from tenants.api_keys import authenticate, create_api_key
from tenants.errors import Unauthenticated
from tenants.models import AuditEntry
from tenants.router import admin_role


def test_a_revoked_key_is_refused_and_its_end_is_audited(acme, settings):
    settings.API_KEY_CACHE_SECONDS = 0
    key, text = create_api_key(tenant=acme.tenant, actor="test")
    authenticate(text)
    call_command("revoke_api_key", key.key_id)
    with pytest.raises(Unauthenticated):
        authenticate(text)
    with admin_role():
        entry = AuditEntry.objects.get(tenant_id=acme.tenant.id, action="api_key.revoke", target=key.key_id)
    assert entry.actor == "command:revoke_api_key"
    with pytest.raises(CommandError, match="revoked already"):
        call_command("revoke_api_key", key.key_id)


def test_a_key_that_is_not_there_is_told_without_its_text(acme):
    with pytest.raises(CommandError, match=r"^There is no such key\.$"):
        call_command("revoke_api_key", "mem_0123456789abcdef_secret")
