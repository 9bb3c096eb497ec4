"""Keys and members, as a tenant's own admins see to them."""

import secrets
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tenants.api_keys import authenticate
from tenants.audit import list_entries
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.managing_keys import NewKey, access_key, create_key, list_keys, revoke_key, rotate_key
from tenants.managing_members import add_member, change_role, list_members, remove_member
from tenants.models import Role
from tenants.router import admin_role


@pytest.fixture
def admin(acme):
    return acme.with_key(scopes=("admin",)).caller


@pytest.fixture
def stranger(globex):
    return globex.with_key(scopes=("admin",)).caller


def person() -> str:
    with admin_role():
        return User.objects.create(username=f"p-{secrets.token_hex(4)}").username


def test_a_key_is_made_rotated_and_revoked(admin):
    now = timezone.now()
    new = NewKey("ci", ("read",), user_id="ann", expires_at=now + timedelta(days=3))
    key, text = create_key(caller=admin, new=new, now=now)
    assert (authenticate(text).user_id, authenticate(text).tenant) == ("ann", admin.tenant)
    second, _text = rotate_key(caller=admin, key_id=key.key_id, overlap_seconds=0, now=now)
    revoke_key(caller=admin, key_id=second.key_id, now=now)
    with pytest.raises(Conflict):
        revoke_key(caller=admin, key_id=second.key_id, now=now)
    listed = {one.key_id: one for one in list_keys(caller=admin)}
    assert all(listed[one.key_id].revoked_at for one in (key, second))
    actions = [one.action for one in list_entries(caller=admin, limit=3)]
    assert actions == ["api_key.revoke", "api_key.rotate", "api_key.create"]


def test_a_key_that_would_have_expired_is_refused(admin):
    now = timezone.now()
    with pytest.raises(Invalid):
        create_key(caller=admin, new=NewKey("", ("read",), expires_at=now), now=now)


def test_neither_a_neighbour_nor_a_lesser_key_reaches_the_keys(acme, admin, stranger):
    now = timezone.now()
    key, _text = create_key(caller=admin, new=NewKey("", ("read",)), now=now)
    for act in (access_key, lambda **named: revoke_key(now=now, **named)):
        with pytest.raises(NotFound):
            act(caller=stranger, key_id=key.key_id)
    assert key.key_id not in {one.key_id for one in list_keys(caller=stranger)}
    for caller in (acme.caller, acme.with_key(scopes=("admin",), user_id="ann").caller):
        with pytest.raises(Forbidden):
            list_keys(caller=caller)
        with pytest.raises(Forbidden):
            create_key(caller=caller, new=NewKey("", ("read",)), now=now)
        with pytest.raises(Forbidden):
            list_members(caller=caller)


def test_the_last_admin_stays(admin):
    first = add_member(caller=admin, name=person(), role=Role.ADMIN)
    for act in (
        lambda: remove_member(caller=admin, member_id=first.id),
        lambda: change_role(caller=admin, member_id=first.id, role=Role.VIEWER),
    ):
        with pytest.raises(Conflict, match="needs an admin"):
            act()
    second = add_member(caller=admin, name=person(), role=Role.VIEWER)
    change_role(caller=admin, member_id=second.id, role=Role.ADMIN)
    remove_member(caller=admin, member_id=first.id)
    assert [(one.id, one.role) for one in list_members(caller=admin)] == [(second.id, Role.ADMIN)]


def test_only_somebody_with_an_account_becomes_a_member_once(admin):
    name = person()
    with pytest.raises(Invalid, match="Nobody"):
        add_member(caller=admin, name=f"{name}-not", role=Role.VIEWER)
    add_member(caller=admin, name=name, role=Role.VIEWER)
    with pytest.raises(Conflict):
        add_member(caller=admin, name=name, role=Role.VIEWER)
    with pytest.raises(Invalid):
        add_member(caller=admin, name=person(), role="king")


def test_a_neighbour_changes_no_member(admin, stranger):
    one = add_member(caller=admin, name=person(), role=Role.VIEWER)
    for member_id in (one.id, uuid4()):
        with pytest.raises(NotFound):
            change_role(caller=stranger, member_id=member_id, role=Role.ADMIN)
        with pytest.raises(NotFound):
            remove_member(caller=stranger, member_id=member_id)
