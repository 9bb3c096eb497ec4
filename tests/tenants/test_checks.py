"""System checks: a deployment that could leak does not start."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from tenants import checks
from tests.processes import ROOT, Web
from tests.tenants.conftest import run_manage, superuser_sql

MEMBER = "is a member of another of Strata's roles"
# Statements that make the app role dangerous, those that take it back, and what the check says.
DANGERS = {
    "superuser": (
        ["ALTER ROLE strata_app SUPERUSER"],
        ["ALTER ROLE strata_app NOSUPERUSER"],
        "is or can become a superuser",
    ),
    "bypassrls": (
        ["ALTER ROLE strata_app BYPASSRLS"],
        ["ALTER ROLE strata_app NOBYPASSRLS"],
        "has or can get BYPASSRLS",
    ),
    "table owner": (
        ["CREATE TABLE mine ()", "ALTER TABLE mine OWNER TO strata_app"],
        ["DROP TABLE mine"],
        "owns tables",
    ),
    **{
        f"member of the {role}": (
            [f"GRANT strata_{role} TO strata_app"],
            [f"REVOKE strata_{role} FROM strata_app"],
            MEMBER,
        )
        for role in ("owner", "admin", "definer")
    },
    "member by way of a group": (
        ["CREATE ROLE staff", "GRANT strata_admin TO staff", "GRANT staff TO strata_app"],
        ["DROP ROLE staff"],
        MEMBER,
    ),
    "member of one that bypasses": (
        ["CREATE ROLE nosy BYPASSRLS", "GRANT nosy TO strata_app"],
        ["DROP ROLE nosy"],
        "has or can get BYPASSRLS",
    ),
}


# `manage.py check`, again for each line of its input: a process for each danger would take long to start.
CHECKING = """
import json, sys
import django
from django.core.management import call_command
from django.core.management.base import SystemCheckError
django.setup()
for _line in sys.stdin:
    try:
        call_command("check", databases=["default"])
        said = ""
    except SystemCheckError as error:
        said = str(error)
    print(json.dumps(said), flush=True)
"""


@pytest.fixture(scope="module")
def check(other_stores) -> Iterator[Callable[[], str]]:
    """What the check of the stores says as they are now."""
    environment = {"PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    process = subprocess.Popen(
        [sys.executable, "-c", CHECKING], cwd=ROOT, env=environment | other_stores.environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def ask() -> str:
        process.stdin.write("\n")
        process.stdin.flush()
        while not (line := process.stdout.readline()).startswith('"'):
            assert line, "it has ended"
        return str(json.loads(line))

    with process:
        yield ask
        process.stdin.close()


@pytest.fixture
def endangered(other_stores, request) -> Iterator[dict[str, str]]:
    """The environment of stores whose app role was altered; it is healed afterwards."""
    wound, heal, _sentence = DANGERS[request.param]
    superuser_sql(other_stores, *wound)
    try:
        yield other_stores.environment()
    finally:
        superuser_sql(other_stores, *heal)


@pytest.mark.parametrize(
    ("endangered", "danger"), [(name, name) for name in DANGERS], indirect=["endangered"]
)
def test_e002_tells_of_an_app_role_that_row_level_security_would_not_bind(check, endangered, danger):
    said = check()
    assert "(tenants.E002)" in said
    assert DANGERS[danger][2] in said


def test_e002_ends_a_command_and_is_over_when_the_role_is_healed(check, other_stores):
    wound, heal, sentence = DANGERS["superuser"]
    superuser_sql(other_stores, *wound)
    try:
        done = run_manage("check", "--database", "default", environment=other_stores.environment())
    finally:
        superuser_sql(other_stores, *heal)
    assert done.returncode == 1
    assert "(tenants.E002)" in done.stderr
    assert sentence in done.stderr
    assert check() == ""


def test_e002_is_silent_when_the_roles_are_as_provision_makes_them(other_stores):
    done = run_manage("check", "--database", "default", environment=other_stores.environment())
    assert done.returncode == 0, done.stderr


def test_e002_is_silent_when_the_database_is_away(other_stores):
    """There is nothing to leak then, and `/ready` tells of it."""
    away = other_stores.environment() | {"DATABASE_URL": "postgresql://strata_app:x@127.0.0.1:1/strata"}
    done = run_manage("check", "--database", "default", environment=away)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("endangered", ["bypassrls"], indirect=True)
def test_the_web_server_does_not_start_with_such_a_role(endangered, tmp_path):
    web = Web(endangered, log=tmp_path / "web.log")
    try:
        assert web._process.wait(timeout=20) != 0
    finally:
        web.stop()
    assert "(tenants.E002)" in (tmp_path / "web.log").read_text()


@pytest.mark.parametrize("endangered", ["bypassrls"], indirect=True)
def test_the_worker_does_not_start_with_such_a_role(endangered):
    command = [sys.executable, "-m", "celery", "-A", "memoryproject", "worker", "--pool", "threads"]
    done = subprocess.run(
        command, cwd=ROOT, env=endangered, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode != 0
    assert "(tenants.E002)" in done.stdout + done.stderr


def found(check, **kwargs: object) -> list[str]:
    return [message.id for message in check(None, **kwargs)]


def test_e001_tells_of_roles_that_are_the_same(settings, monkeypatch):
    assert found(checks.roles_differ) == []
    names = {"app": "a", "owner": "o", "admin": "m", "definer": "d"}
    for first, second in [("app", "owner"), ("app", "admin"), ("owner", "definer"), ("admin", "definer")]:
        same = names | {second: names[first]}
        monkeypatch.setattr(checks, "roles", lambda same=same: SimpleNamespace(**same))
        assert found(checks.roles_differ) == ["tenants.E001"], (first, second)


@pytest.mark.parametrize("network", ["10.0.0.1/8", "everywhere", "10.0.0.0/33", "::1/129"])
def test_e003_tells_of_a_network_that_is_none(network, settings):
    settings.MEMORY_ANONYMOUS_NETWORKS = ["127.0.0.0/8", network]
    assert found(checks.anonymous_access_is_fenced) == ["tenants.E003"]


@pytest.mark.parametrize(
    ("host", "tenant", "networks", "expected"),
    [
        ("127.0.0.1", "demo", [], []),
        ("::1", "demo", [], []),
        ("localhost", "demo", [], []),
        ("0.0.0.0", "", [], []),
        ("0.0.0.0", "demo", ["10.0.0.0/8"], []),
        ("0.0.0.0", "demo", [], ["tenants.E004"]),
        ("::", "demo", [], ["tenants.E004"]),
        ("192.0.2.1", "demo", [], ["tenants.E004"]),
        ("127.0.0.1.evil.example", "demo", [], ["tenants.E004"]),
    ],
)
def test_e004_tells_of_keyless_access_that_is_open_to_others(host, tenant, networks, expected, settings):
    settings.HOST = host
    settings.MEMORY_ANONYMOUS_TENANT = tenant
    settings.MEMORY_ANONYMOUS_NETWORKS = networks
    assert found(checks.anonymous_access_is_fenced) == expected


def test_e005_tells_of_a_secret_key_that_is_not_set(settings):
    assert found(checks.secret_is_set) == []
    settings.SECRET_KEY = "unset"
    assert found(checks.secret_is_set) == ["tenants.E005"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"SECRET_KEY": ""}, "tenants.E005"),
        ({"MEMORY_ANONYMOUS_TENANT": "demo", "HOST": "0.0.0.0"}, "tenants.E004"),
        ({"MEMORY_ANONYMOUS_NETWORKS": "everywhere"}, "tenants.E003"),
        ({"DATABASE_DEFINER_ROLE": "strata_owner"}, "tenants.E001"),
    ],
)
def test_every_management_command_refuses_to_run_then(change, expected, other_stores):
    done = run_manage("create_tenant", "acme", environment=other_stores.environment() | change)
    assert done.returncode == 1
    assert expected in done.stderr
