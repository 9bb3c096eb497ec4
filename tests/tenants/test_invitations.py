"""Invitations: made by an admin, used once, by whoever has the link and nobody else."""

import secrets
import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.db import connections
from django.utils import timezone

from tenants.audit import list_entries
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from tenants.invitations import (
    SALT,
    access_invitation,
    invite,
    list_invitations,
    open_invitation,
    revoke_invitation,
)
from tenants.joining import account_problems, join, join_anew
from tenants.members import access_member, add_member, change_role, list_memberships, remove_member
from tenants.models import Invitation, Member, Role, Tenant
from tenants.router import admin_role

GOOD = "a heron keeps its ladder"


def account(**fields) -> User:
    with admin_role():
        user = User(username=f"p-{secrets.token_hex(4)}", **fields)
        user.set_unusable_password()
        user.save()
    return user


def admin_of(tenant: Tenant) -> tuple[Caller, Member]:
    user = account()
    member = add_member(tenant=tenant, user=user, role=Role.ADMIN, actor="test")
    return access_member(user=user, tenant=tenant.slug), member


@pytest.fixture
def admin(acme_tenant) -> Caller:
    return admin_of(acme_tenant)[0]


@pytest.fixture
def stranger(globex_tenant) -> Caller:
    return admin_of(globex_tenant)[0]


def invited(admin: Caller, role: str = Role.EDITOR, days: int = 7) -> tuple[Invitation, str]:
    """The invitation, and the token of its link."""
    made, path = invite(caller=admin, role=role, days=days, now=timezone.now())
    return made, path.removeprefix("/invitation/")


def refused(token: str, now=None) -> bool:
    with pytest.raises(Unauthenticated, match="not valid, or no longer"):
        open_invitation(token=token, now=now or timezone.now())
    with pytest.raises(Unauthenticated):
        join(token=token, user=account(), now=now or timezone.now())
    return True


def test_a_new_account_joins_in_the_role_and_uses_the_link_up(admin):
    made, token = invited(admin)
    shown = open_invitation(token=token, now=timezone.now())
    assert (shown.tenant, shown.role) == (admin.tenant, "editor")
    name = f"ann-{secrets.token_hex(4)}"
    user = join_anew(token=token, name=name, password=GOOD, now=timezone.now()).user
    assert access_member(user=user, tenant=admin.tenant).may("write")
    assert user.check_password(GOOD)
    assert not user.is_staff
    assert refused(token)
    assert list_invitations(caller=admin, now=timezone.now()) == []
    log = {one.action: one for one in list_entries(caller=admin, limit=3)}
    assert set(log) == {"invitation.accept", "member.add", "invitation.create"}
    accepted = log["invitation.accept"]
    assert (accepted.actor, accepted.target) == (f"member:{name}", str(made.id))
    assert accepted.details == {"role": "editor", "invited_by": admin.principal, "new_account": True}


def test_an_account_that_there_is_joins_and_one_who_is_a_member_uses_nothing_up(admin):
    _made, token = invited(admin, Role.VIEWER)
    with admin_role():
        here = User.objects.get(username=admin.key_id)
    with pytest.raises(Conflict):
        join(token=token, user=here, now=timezone.now())
    assert access_member(user=here, tenant=admin.tenant).may("admin")  # and is no viewer now
    user = account()
    join(token=token, user=user, now=timezone.now())
    assert [(one.tenant, one.role) for one in list_memberships(user=user)] == [(admin.tenant, "viewer")]
    assert refused(token)


def test_the_database_keeps_a_hash_and_the_link_is_signed(admin):
    made, token = invited(admin)
    tenant, name, secret = signing.loads(token, salt=SALT)
    with admin_role():
        row = Invitation.objects.filter(id=made.id).values().get()
    assert secret not in str(row)
    assert len(row["secret_hash"]) == 64
    for broken in (token[:-1], f"{token[:-1]}{'A' if token[-1] != 'A' else 'B'}", "", "x", f"{token}é"):
        assert refused(broken)
    for other in ([tenant, name, "guess"], [tenant, uuid4().hex, secret], [uuid4().hex, name, secret]):
        assert refused(signing.dumps(other, salt=SALT))
    assert refused(signing.dumps([tenant, name, secret], salt="another"))
    assert open_invitation(token=token, now=timezone.now()).id == made.id


def test_it_ends_with_its_time_and_goes_with_the_next_one(admin):
    made, token = invited(admin, days=1)
    later = timezone.now() + timedelta(days=1)
    assert refused(token, now=later)
    assert list_invitations(caller=admin, now=later) == []
    invite(caller=admin, role=Role.VIEWER, days=1, now=later)
    with pytest.raises(NotFound):
        access_invitation(caller=admin, invitation_id=made.id)


def test_a_revoked_one_opens_nothing(admin):
    made, token = invited(admin)
    revoke_invitation(caller=admin, invitation_id=made.id)
    assert refused(token)
    with pytest.raises(NotFound):
        revoke_invitation(caller=admin, invitation_id=made.id)
    assert list_entries(caller=admin, limit=1)[0].action == "invitation.revoke"


@pytest.mark.parametrize("ends", ["removed", "demoted", "locked out", "deleted"])
def test_who_is_no_admin_any_more_has_invited_nobody(ends, acme_tenant):
    caller, member = admin_of(acme_tenant)
    _made, token = invited(caller, Role.ADMIN)
    if ends == "removed":
        remove_member(member=member, actor="test")
    elif ends == "demoted":
        change_role(member=member, role=Role.EDITOR, actor="test")
    else:
        with admin_role():
            user = User.objects.get(id=member.user_id)
            user.is_active = False
            user.save() if ends == "locked out" else user.delete()
    assert refused(token)


def test_an_invitation_to_a_tenant_that_is_disabled_opens_nothing(admin):
    _made, token = invited(admin)
    with admin_role():
        Tenant.objects.filter(id=admin.tenant_id).update(disabled_at=timezone.now())
    assert refused(token)


def test_a_neighbour_sees_and_ends_none(admin, stranger):
    made, token = invited(admin)
    for act in (access_invitation, revoke_invitation):
        with pytest.raises(NotFound):
            act(caller=stranger, invitation_id=made.id)
    assert list_invitations(caller=stranger, now=timezone.now()) == []
    assert open_invitation(token=token, now=timezone.now()).tenant == admin.tenant


def test_only_a_member_who_is_an_admin_invites(admin):
    made, _token = invited(admin)
    now = timezone.now()
    lesser = [
        Caller(admin.tenant_id, admin.tenant, "k", frozenset({"admin"})),  # a key
        Caller(admin.tenant_id, admin.tenant, "k", frozenset({"read", "write"}), kind="member"),
        Caller(admin.tenant_id, admin.tenant, "k", frozenset({"admin"}), user_id="ann", kind="member"),
    ]
    for caller in lesser:
        with pytest.raises(Forbidden):
            invite(caller=caller, role=Role.ADMIN, days=1, now=now)
        with pytest.raises(Forbidden):
            list_invitations(caller=caller, now=now)
        with pytest.raises(Forbidden):
            revoke_invitation(caller=caller, invitation_id=made.id)


@pytest.mark.parametrize(
    "wrong", [{"role": "king"}, {"days": 0}, {"days": 31}, {"note": "x" * 201}], ids=lambda one: str(one)[:20]
)
def test_what_cannot_be_is_refused(wrong, admin):
    fields = {"role": Role.VIEWER, "days": 1, "now": timezone.now()} | wrong
    with pytest.raises(Invalid) as refusal:
        invite(caller=admin, **fields)
    assert refusal.value.field == next(iter(wrong))


def test_everything_that_is_wrong_with_an_account_is_said():
    taken = account()
    found = account_problems(name=taken.username.upper(), password="123")
    assert [one.field for one in found] == ["name", "password", "password", "password"]
    for name in ("", "a b", "x" * 151, "ann\0"):
        assert [one.field for one in account_problems(name=name, password=GOOD)][:1] == ["name"]
    assert [one.field for one in account_problems(name="margarete", password="margarete1")] == ["password"]
    assert account_problems(name=f"p-{secrets.token_hex(4)}", password=GOOD) == []


def test_a_refused_account_leaves_the_invitation_and_no_account(admin):
    _made, token = invited(admin)
    taken = account()
    for name, password in ((taken.username, GOOD), (f"p-{secrets.token_hex(4)}", "123")):
        with pytest.raises(Invalid):
            join_anew(token=token, name=name, password=password, now=timezone.now())
    assert open_invitation(token=token, now=timezone.now()).role == "editor"
    name = f"p-{secrets.token_hex(4)}"
    with pytest.raises(Unauthenticated):
        join_anew(token="x", name=name, password=GOOD, now=timezone.now())
    with admin_role():
        assert not User.objects.filter(username=name).exists()


def test_of_two_at_once_one_joins(admin):
    _made, token = invited(admin)
    users, done, barrier = [account() for _ in range(4)], [], threading.Barrier(4)

    def run(user: User) -> None:
        try:
            barrier.wait(timeout=30)
            join(token=token, user=user, now=timezone.now())
            done.append(True)
        except Unauthenticated:
            done.append(False)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[user]) for user in users]
    for one in threads:
        one.start()
    for one in threads:
        one.join(timeout=30)
    assert sorted(done) == [False, False, False, True]
    assert sum(bool(list_memberships(user=user)) for user in users) == 1
