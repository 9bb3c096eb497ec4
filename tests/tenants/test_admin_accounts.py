"""What is done to accounts on the operator's pages is in the audit log of every tenant that they reach."""

import secrets
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from tenants.members import add_member
from tenants.models import AuditEntry, Tenant
from tenants.router import admin_role
from tests.conftest import Member
from tests.tenants.people import make_user
from tests.tenants.test_admin_site import admin, form_token, log_in, login, operator, post, visitor

__all__ = ["admin", "login", "operator", "visitor"]


@pytest.fixture
def ann(acme: Member) -> User:
    """A member of acme and of nothing else."""
    user = make_user("ann")
    add_member(tenant=acme.tenant, user=user, role="viewer", actor="test")
    return user


def told(tenant: Tenant, target: str) -> list[tuple[str, str, Any]]:
    """What the tenant's log says about accounts and groups of that name."""
    with admin_role():
        found = AuditEntry.objects.filter(tenant=tenant, target=target).exclude(action__startswith="member.")
        return [(one.actor, one.action, one.details) for one in found.order_by("at", "id")]


def change(client: Any, user: User, **fields: str) -> Any:
    form = {"username": user.username, "is_active": "on"} | fields
    return post(client, f"/admin/auth/user/{user.id}/change/", **form)


def test_a_change_is_told_where_the_account_is_a_member_and_nowhere_else(admin, acme, globex, ann):
    assert change(admin, ann, first_name="Ann").status_code == 302
    details = {"fields": ["first_name"]}
    assert told(acme.tenant, ann.username) == [("admin:admin", "account.change", details)]
    assert told(globex.tenant, ann.username) == []


def test_who_comes_to_enter_the_admin_or_no_longer_may_is_told_everywhere(admin, acme, globex, ann):
    assert change(admin, ann, is_staff="on").status_code == 302
    assert change(admin, ann).status_code == 302
    deeds = [
        ("admin:admin", "account.change", {"fields": ["is_staff"], "is_staff": value})
        for value in (True, False)
    ]
    assert told(acme.tenant, ann.username) == told(globex.tenant, ann.username) == deeds


def test_another_name_is_told_with_the_former(admin, acme, ann):
    name = f"anna-{secrets.token_hex(4)}"
    assert change(admin, ann, username=name).status_code == 302
    [(_actor, _action, details)] = told(acme.tenant, name)
    assert details == {"fields": ["username"], "former": ann.username}


def test_a_password_is_told_when_it_is_set_and_not_when_it_is_refused(visitor, operator, acme, ann):
    """In a session of its own, whose key changes with that."""
    log_in(visitor, operator["admin_user"], operator["admin_password"])
    page = f"/admin/auth/user/{ann.id}/password/"
    form = {"usable_password": "true", "password1": "long enough it is"}
    assert post(visitor, page, **form, password2="and not the same").status_code == 200
    assert told(acme.tenant, ann.username) == []
    assert post(visitor, page, **form, password2="long enough it is").status_code == 302
    assert told(acme.tenant, ann.username) == [("admin:admin", "account.password", {})]


def test_ones_own_password_is_told_everywhere(visitor, acme):
    clerk = make_user("clerk", is_staff=True)
    with admin_role():
        clerk.set_password("the old one it is")
        clerk.save()
    log_in(visitor, clerk.username, "the old one it is")
    new = {"new_password1": "the new one it is", "new_password2": "the new one it is"}
    assert post(visitor, "/admin/password_change/", old_password="wrong", **new).status_code == 200
    assert told(acme.tenant, clerk.username) == []
    done = post(visitor, "/admin/password_change/", old_password="the old one it is", **new)
    assert done.headers["location"] == "/admin/password_change/done/"
    assert visitor.get("/admin/").status_code == 200
    assert told(acme.tenant, clerk.username) == [(f"admin:{clerk.username}", "account.password", {})]


def test_a_deletion_is_told_where_the_account_was_a_member(admin, acme, ann):
    assert post(admin, f"/admin/auth/user/{ann.id}/delete/", post="yes").status_code == 302
    assert told(acme.tenant, ann.username) == [("admin:admin", "account.delete", {})]


def test_each_of_several_deleted_from_the_list_is_told(admin, acme, ann):
    bob = make_user("bob")
    add_member(tenant=acme.tenant, user=bob, role="viewer", actor="test")
    form = {
        "csrfmiddlewaretoken": form_token(admin.get("/admin/auth/user/")),
        "action": "delete_selected",
        "_selected_action": [str(ann.id), str(bob.id)],
        "post": "yes",
    }
    assert admin.post("/admin/auth/user/", data=form).status_code == 302
    for user in (ann, bob):
        assert told(acme.tenant, user.username) == [("admin:admin", "account.delete", {})]


def test_a_new_account_reaches_nobody_and_is_told_with_its_first_membership(admin, acme):
    name = f"new-{secrets.token_hex(4)}"
    form = {"username": name, "usable_password": "false"}
    assert post(admin, "/admin/auth/user/add/", **form).status_code == 302
    assert told(acme.tenant, name) == []
    with admin_role():
        user = User.objects.get(username=name)
    form = {"tenant": str(acme.tenant.id), "user": str(user.id), "role": "viewer"}
    assert post(admin, "/admin/tenants/member/add/", **form).status_code == 302
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme.tenant, target=name)
    assert (entry.actor, entry.action) == ("admin:admin", "member.add")


def test_a_group_says_what_operators_may_do_and_is_told_everywhere(admin, acme, globex):
    name = f"clerks-{secrets.token_hex(4)}"
    assert post(admin, "/admin/auth/group/add/", name=name).status_code == 302
    with admin_role():
        group = Group.objects.get(name=name)
    assert post(admin, f"/admin/auth/group/{group.id}/change/", name=name, permissions="1").status_code == 302
    assert post(admin, f"/admin/auth/group/{group.id}/delete/", post="yes").status_code == 302
    deeds = [
        ("admin:admin", "group.create", {}),
        ("admin:admin", "group.change", {"fields": ["permissions"]}),
        ("admin:admin", "group.delete", {}),
    ]
    assert told(acme.tenant, name) == told(globex.tenant, name) == deeds


def test_what_the_log_does_not_take_does_not_happen(admin, ann, monkeypatch):
    """Here, in the transaction of the test's own process."""
    from tenants import accounts, audit

    def fail(**_details: object) -> None:
        raise RuntimeError("the log is full")

    monkeypatch.setattr(audit, "record", fail)
    ann.password = "another"
    with pytest.raises(RuntimeError), accounts.telling_password(user_id=ann.id, actor="test"):
        ann.save()
    with admin_role():
        assert User.objects.get(id=ann.id).password == ""
