"""Which role a query runs as."""

import threading

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.db import ProgrammingError, connections, router

from tenants.isolation import roles
from tenants.models import Tenant
from tenants.router import admin_role, app_role
from tenants.scope import scope, unscoped
from working.models import Session


def test_queries_run_as_the_app_role_unless_a_block_asks_for_the_admin_role():
    assert router.db_for_read(Tenant) == router.db_for_write(Tenant) == "default"
    with admin_role():
        assert router.db_for_read(Tenant) == router.db_for_write(Tenant) == "admin"
        with app_role():
            assert router.db_for_read(Tenant) == "default"
        with admin_role():
            pass
        assert router.db_for_read(Tenant) == "admin"
    assert router.db_for_read(Tenant) == "default"


def test_the_admin_role_ends_with_an_exception():
    with pytest.raises(ZeroDivisionError), admin_role():
        raise ZeroDivisionError
    assert router.db_for_read(Tenant) == "default"


def test_the_admin_role_is_not_inherited_by_a_thread():
    found = []
    with admin_role():
        thread = threading.Thread(target=lambda: found.append(router.db_for_read(Tenant)))
        thread.start()
        thread.join()
    assert found == ["default"]


def test_the_aliases_are_three_roles_of_one_database():
    found = {}
    with unscoped():
        for alias in ("default", "owner", "admin"):
            with connections[alias].cursor() as cursor:
                cursor.execute("SELECT current_user, current_database()")
                found[alias] = cursor.fetchone()
    names = roles()
    databases = {database for _role, database in found.values()}
    assert [found[alias][0] for alias in ("default", "owner", "admin")] == [
        names.app,
        names.owner,
        names.admin,
    ]
    assert len(databases) == 1


def test_the_admin_role_sees_every_tenant(acme_tenant, globex_tenant):
    with admin_role():
        assert Tenant.objects.filter(id__in=[acme_tenant.id, globex_tenant.id]).count() == 2
    with scope(acme_tenant.id):
        assert list(Tenant.objects.values_list("id", flat=True)) == [acme_tenant.id]


@pytest.mark.parametrize("model", [User, BrowserSession])
def test_the_app_role_cannot_read_logins_and_browser_sessions(model):
    with unscoped(), pytest.raises(ProgrammingError, match="permission denied"):
        model.objects.exists()
    with admin_role():
        model.objects.exists()


def test_only_the_owner_migrates():
    for model in (User, Session, Tenant):
        assert [alias for alias in connections if router.allow_migrate_model(alias, model)] == ["owner"]
