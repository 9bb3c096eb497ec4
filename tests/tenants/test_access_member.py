"""From a signed-in person to a caller: by membership alone."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import ProgrammingError
from django.utils import timezone

from tenants.errors import NotFound
from tenants.members import Membership, access_member, add_member, list_memberships
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.scope import unscoped
from tests.tenants.people import make_user


def is_let_in(user: object, slug: str) -> bool:
    try:
        access_member(user=user, tenant=slug)
    except NotFound:
        return False
    return True


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        ("viewer", {"read"}),
        ("editor", {"read", "write", "ingest"}),
        ("privacy_officer", {"read", "privacy"}),
        ("admin", {"admin"}),
    ],
)
def test_a_member_is_a_caller_with_the_scopes_of_the_role(role, scopes, acme_tenant):
    ann = make_user("ann")
    add_member(tenant=acme_tenant, user=ann, role=role, actor="test")
    caller = access_member(user=ann, tenant=acme_tenant.slug)
    assert (caller.tenant_id, caller.tenant) == (acme_tenant.id, acme_tenant.slug)
    assert caller.scopes == scopes
    assert (caller.user_id, caller.agent_id, caller.project) == ("", "", "")
    assert (caller.kind, caller.principal) == ("member", f"member:{ann.username}")


def test_a_stranger_and_an_unknown_tenant_are_answered_alike(acme_tenant, globex_tenant):
    ann = make_user("ann")
    add_member(tenant=acme_tenant, user=ann, role="admin", actor="test")
    add_member(tenant=globex_tenant, user=make_user("bob"), role="admin", actor="test")
    sentences = set()
    for slug in (globex_tenant.slug, "nobody", "", "%", "\0", "a" * 1_000, acme_tenant.slug + "\n"):
        with pytest.raises(NotFound) as caught:
            access_member(user=ann, tenant=slug)
        sentences.add(str(caught.value))
    assert len(sentences) == 1


def test_a_superuser_is_no_member_by_that(acme_tenant):
    assert not is_let_in(make_user("root", is_superuser=True, is_staff=True), acme_tenant.slug)


def test_whoever_is_not_signed_in_or_locked_out_is_not_let_in(acme_tenant):
    ann = make_user("ann")
    add_member(tenant=acme_tenant, user=ann, role="viewer", actor="test")
    assert is_let_in(ann, acme_tenant.slug)
    ann.is_active = False
    for nobody in (AnonymousUser(), User(), ann):
        assert not is_let_in(nobody, acme_tenant.slug)
        assert list_memberships(user=nobody) == []


def test_a_disabled_tenant_lets_nobody_in_and_is_not_listed(acme_tenant):
    ann = make_user("ann")
    add_member(tenant=acme_tenant, user=ann, role="viewer", actor="test")
    with admin_role():
        Tenant.objects.filter(id=acme_tenant.id).update(disabled_at=timezone.now())
    assert not is_let_in(ann, acme_tenant.slug)
    assert list_memberships(user=ann) == []


def test_a_person_sees_the_own_memberships_alone(acme_tenant, globex_tenant):
    ann, bob = make_user("ann"), make_user("bob")
    for tenant, user, role in (
        (globex_tenant, ann, "viewer"),
        (acme_tenant, ann, "admin"),
        (globex_tenant, bob, "editor"),
    ):
        add_member(tenant=tenant, user=user, role=role, actor="test")
    acme = Membership(acme_tenant.id, acme_tenant.slug, "admin")
    assert list_memberships(user=ann) == [acme, Membership(globex_tenant.id, globex_tenant.slug, "viewer")]
    assert list_memberships(user=bob) == [Membership(globex_tenant.id, globex_tenant.slug, "editor")]


def test_neither_needs_the_admin_role(acme_tenant):
    """They run in web processes outside `/admin/`, as the app role, which cannot read the user table."""
    ann = make_user("ann")
    add_member(tenant=acme_tenant, user=ann, role="viewer", actor="test")
    assert is_let_in(ann, acme_tenant.slug)
    with pytest.raises(ProgrammingError, match="permission denied"), unscoped():
        User.objects.get(id=ann.id)
