"""Making people members, changing their roles, ending it: audited, and effective at once."""

import io

import pytest
from django.core.management import CommandError, call_command

from tenants.errors import Conflict, Invalid, NotFound
from tenants.members import access_member, add_member, change_role, list_memberships, remove_member
from tenants.models import AuditEntry, Member, Tenant
from tenants.router import admin_role
from tests.tenants.people import make_user


@pytest.fixture
def ann():
    return make_user("ann")


@pytest.fixture
def member(acme_tenant, ann) -> Member:
    return add_member(tenant=acme_tenant, user=ann, role="viewer", actor="test")


def entries(tenant: Tenant) -> list[tuple[str, str, str, dict]]:
    with admin_role():
        found = AuditEntry.objects.filter(tenant=tenant, action__startswith="member.").order_by("at")
        return [(entry.actor, entry.action, entry.target, entry.details) for entry in found]


def test_whoever_is_added_is_a_member_and_the_log_tells(acme_tenant, ann, member):
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read"}
    assert entries(acme_tenant) == [("test", "member.add", ann.username, {"role": "viewer"})]


def test_nobody_is_a_member_twice(acme_tenant, ann, member):
    with pytest.raises(Conflict, match=ann.username):
        add_member(tenant=acme_tenant, user=ann, role="admin", actor="test")
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read"}
    assert len(entries(acme_tenant)) == 1


def test_a_person_may_be_a_member_of_several_tenants(acme_tenant, globex_tenant, ann, member):
    add_member(tenant=globex_tenant, user=ann, role="admin", actor="test")
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read"}
    assert access_member(user=ann, tenant=globex_tenant.slug).scopes == {"admin"}


def test_another_role_counts_at_once_and_the_log_tells_both(acme_tenant, ann, member):
    access_member(user=ann, tenant=acme_tenant.slug)
    assert change_role(member=member, role="editor", actor="test").role == "editor"
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read", "write", "ingest"}
    told = {"role": "editor", "former": "viewer"}
    assert entries(acme_tenant)[1:] == [("test", "member.change_role", ann.username, told)]


def test_whoever_is_removed_is_out_at_once_and_the_log_tells(acme_tenant, ann, member):
    access_member(user=ann, tenant=acme_tenant.slug)
    remove_member(member=member, actor="test")
    with pytest.raises(NotFound):
        access_member(user=ann, tenant=acme_tenant.slug)
    assert list_memberships(user=ann) == []
    remove_member(member=member, actor="test")
    with pytest.raises(NotFound):
        change_role(member=member, role="admin", actor="test")
    assert entries(acme_tenant)[1:] == [("test", "member.remove", ann.username, {"role": "viewer"})]


@pytest.mark.parametrize("role", ["", "owner", "Admin", "viewer ", "read"])
def test_a_role_that_is_none_is_refused(role, acme_tenant, ann, member):
    with pytest.raises(Invalid, match="Roles are viewer, editor, privacy_officer, admin"):
        add_member(tenant=acme_tenant, user=make_user("bob"), role=role, actor="test")
    with pytest.raises(Invalid):
        change_role(member=member, role=role, actor="test")
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read"}
    assert len(entries(acme_tenant)) == 1


def command(*args: str) -> str:
    out = io.StringIO()
    call_command("add_member", *args, stdout=out)
    return out.getvalue().strip()


def test_the_command_makes_a_member(acme_tenant, ann):
    assert command(acme_tenant.slug, ann.username, "--role", "privacy_officer") == (
        f"{ann.username} is privacy_officer of {acme_tenant.slug}."
    )
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read", "privacy"}
    assert entries(acme_tenant)[0][0] == "command:add_member"


def test_without_a_role_the_command_makes_a_viewer(acme_tenant, ann):
    command(acme_tenant.slug, ann.username)
    assert access_member(user=ann, tenant=acme_tenant.slug).scopes == {"read"}


def test_the_command_tells_what_it_does_not_know(acme_tenant, ann):
    for args, sentence in [
        (("nobody", ann.username), "no tenant 'nobody'"),
        ((acme_tenant.slug, "nobody"), "no user 'nobody'"),
        ((acme_tenant.slug, ann.username, "--role", "owner"), "Roles are"),
    ]:
        with pytest.raises(CommandError, match=sentence):
            command(*args)
    command(acme_tenant.slug, ann.username)
    with pytest.raises(CommandError, match="already"):
        command(acme_tenant.slug, ann.username)
