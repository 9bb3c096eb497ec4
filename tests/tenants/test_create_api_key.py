"""`manage.py create_api_key`."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tenants.api_keys import authenticate
from tenants.models import ApiKey, AuditEntry
from tenants.router import admin_role


def create(*args: str) -> str:
    out = io.StringIO()
    call_command("create_api_key", *args, stdout=out)
    return out.getvalue().strip()


def test_the_printed_key_works_at_once(acme_tenant):
    caller = authenticate(create(acme_tenant.slug))
    assert caller.tenant_id == acme_tenant.id
    assert caller.scopes == {"read", "write"}
    assert (caller.user_id, caller.agent_id, caller.project) == ("", "", "")


def test_scopes_and_bindings_are_taken_from_the_options(acme_tenant):
    options = [
        "--scopes",
        " read , admin,",
        "--user",
        "ann",
        "--agent",
        "a1",
        "--project",
        "p",
        "--name",
        "n",
    ]
    caller = authenticate(create(acme_tenant.slug, *options))
    assert caller.scopes == {"read", "admin"}
    assert (caller.user_id, caller.agent_id, caller.project) == ("ann", "a1", "p")


@pytest.mark.parametrize(("option", "days"), [([], None), (["--days", "0"], None), (["--days", "30"], 30)])
def test_a_key_expires_after_the_days_given_or_never(option, days, acme_tenant):
    key_id = create(acme_tenant.slug, *option).split("_")[1]
    with admin_role():
        expires = ApiKey.objects.get(key_id=key_id).expires_at
    if days is None:
        assert expires is None
    else:
        assert abs(expires - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)


def test_a_key_cannot_be_made_to_have_expired_already(acme_tenant):
    with pytest.raises(CommandError, match="days"):
        create(acme_tenant.slug, "--days", "-1")


def test_an_unknown_tenant_or_scope_is_told_with_a_sentence(acme_tenant):
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        create("nobody")
    with pytest.raises(CommandError, match="not everything"):
        create(acme_tenant.slug, "--scopes", "read,everything")
    with pytest.raises(CommandError, match="not none"):
        create(acme_tenant.slug, "--scopes", ",")


def test_the_audit_log_tells_of_the_key_but_not_its_secret(acme_tenant):
    text = create(acme_tenant.slug, "--scopes", "read")
    _prefix, key_id, secret = text.split("_", 2)
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme_tenant, action="api_key.create")
    assert (entry.actor, entry.target) == ("command:create_api_key", key_id)
    assert entry.details == {"scopes": ["read"]}
    assert secret not in str(vars(entry))
