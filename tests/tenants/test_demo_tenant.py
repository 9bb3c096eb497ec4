"""`manage.py demo_tenant`: what `make run` prints, found again at every start."""

import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate as log_in
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from tenants.api_keys import authenticate
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role
from tests.tenants.conftest import run_manage


@pytest.fixture(autouse=True)
def home(settings, tmp_path) -> Iterator[Path]:
    """An own home. The admin goes at the end: other tests' homes know nothing of the password it got here."""
    settings.MEMORY_HOME = tmp_path / "home"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the slow one is Django's
    yield settings.MEMORY_HOME
    with admin_role():
        User.objects.filter(username="admin").delete()


def demo() -> dict[str, str]:
    out = io.StringIO()
    call_command("demo_tenant", stdout=out)
    return json.loads(out.getvalue())


def works(found: dict[str, Any]) -> bool:
    with admin_role():
        user = log_in(username=found["admin_user"], password=found["admin_password"])
    assert user is not None
    assert user.is_superuser
    assert authenticate(found["api_key"]).tenant == found["tenant"] == "demo"
    return True


def test_it_makes_a_tenant_a_key_and_an_admin_that_work(home):
    found = demo()
    assert works(found)
    assert json.loads((home / "demo.json").read_text()) == found


def test_what_it_keeps_is_for_its_owner_alone(home):
    home.mkdir()
    (home / "demo.json").write_text("{}")
    (home / "demo.json").chmod(0o644)
    demo()
    assert stat.S_IMODE((home / "demo.json").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["demo.json"]


def test_running_it_again_finds_the_same(home):
    first = demo()
    before = (home / "demo.json").stat().st_mtime_ns
    with admin_role():
        counts = Tenant.objects.count(), ApiKey.objects.count()
    assert demo() == first
    assert (home / "demo.json").stat().st_mtime_ns == before
    with admin_role():
        assert (Tenant.objects.count(), ApiKey.objects.count()) == counts


@pytest.mark.parametrize("rest", [None, "", '{"tenant": "de', "[]", "{}", '{"api_key": "mem_x"}'])
def test_a_lost_or_broken_file_means_a_new_key_and_password(rest, home):
    first = demo()
    if rest is None:
        (home / "demo.json").unlink()
    else:
        (home / "demo.json").write_text(rest)
    second = demo()
    assert works(second)
    assert second["api_key"] != first["api_key"]
    assert second["admin_password"] != first["admin_password"]
    assert authenticate(first["api_key"])  # somebody may still be using it


def test_a_revoked_key_is_replaced():
    first = demo()
    with admin_role():
        ApiKey.objects.filter(key_id=first["api_key"].split("_")[1]).update(revoked_at=timezone.now())
    second = demo()
    assert second["api_key"] != first["api_key"]
    assert second["admin_password"] == first["admin_password"]
    assert works(second)


def test_a_password_that_the_admin_has_changed_is_left_alone():
    first = demo()
    with admin_role():
        user = log_in(username="admin", password=first["admin_password"])
        user.set_password("chosen by hand")
        user.save()
    demo()
    with admin_role():
        assert log_in(username="admin", password="chosen by hand")


def test_a_new_database_under_an_old_file_gets_a_key_and_an_admin_that_work(other_stores, tmp_path):
    environment = other_stores.environment() | {"MEMORY_HOME": str(tmp_path)}
    stale = {
        "tenant": "demo",
        "api_key": f"mem_{'0' * 16}_{'s' * 43}",
        "admin_user": "admin",
        "admin_password": "of another database",
    }
    (tmp_path / "demo.json").write_text(json.dumps(stale))
    assert run_manage("migrate", "--database", "owner", environment=environment).returncode == 0
    first = run_manage("demo_tenant", environment=environment)
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert found["api_key"] != stale["api_key"]
    assert found["admin_password"] != stale["admin_password"]
    assert json.loads(run_manage("demo_tenant", environment=environment).stdout) == found
