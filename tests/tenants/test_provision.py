"""Roles, database and extension, from nothing but a superuser."""

import subprocess
import sys
import tempfile

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from memoryproject.embedded import binaries
from tenants.provision import provision, script
from tests.processes import ROOT, Stores
from tests.tenants.conftest import run_manage, superuser_sql

AWKWARD = r"""it's "quoted" \ %s %% $x$ {0} ; -- ü"""


def urls_for(stores: Stores, prefix: str, password: str = "pw") -> dict[str, str]:
    return {
        f"{role}_url": stores.postgres.url(f"{prefix}_{role}", password, prefix)
        for role in ("app", "owner", "admin")
    }


def environment_for(urls: dict[str, str], definer: str) -> dict[str, str]:
    return {
        "MEMORY_HOME": tempfile.gettempdir(),
        "SECRET_KEY": "tests only",
        "DATABASE_URL": urls["app_url"],
        "DATABASE_OWNER_URL": urls["owner_url"],
        "DATABASE_ADMIN_URL": urls["admin_url"],
        "DATABASE_DEFINER_ROLE": definer,
    }


# In one process, each with its checks: three take three times as long to start.
COMMANDS = """
import django
from django.core.management import call_command
django.setup()
call_command("migrate", database="owner", verbosity=0, skip_checks=False)
call_command("create_tenant", "acme", skip_checks=False)
call_command("check", databases=["default"])
"""


def assert_it_serves(urls: dict[str, str], definer: str) -> None:
    """The roles can log in, the migrations run, and the checks find nothing."""
    for url in urls.values():
        psycopg.connect(url).close()
    environment = environment_for(urls, definer)
    environment["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=ROOT, env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_printed_sql_sets_a_server_up_when_psql_runs_it(other_stores):
    """As an administrator does it: print, choose passwords, run; with names that need quotes."""
    urls = urls_for(other_stores, "Printed one")
    environment = environment_for(urls, "Printed one_definer")
    printed = run_manage("provision", environment=environment)
    assert printed.returncode == 0, printed.stderr
    assert "CHANGE-ME" in printed.stdout
    assert "'pw'" not in printed.stdout  # no password of ours in what lands in a scrollback
    run_psql(other_stores, printed.stdout.replace("CHANGE-ME", "pw"))
    assert_it_serves(urls, "Printed one_definer")


def run_psql(stores: Stores, text: str) -> None:
    psql = binaries.locate().postgres_root / binaries.PG_FOLDER / "bin" / "psql"
    done = subprocess.run(
        [psql, "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname", stores.postgres.superuser_url()],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_apply_sets_a_server_up_and_can_be_repeated(other_stores):
    urls = urls_for(other_stores, "applied")
    superuser = other_stores.postgres.superuser_url()
    environment = environment_for(urls, "applied_definer")
    for _ in range(2):
        done = run_manage("provision", "--apply", superuser, environment=environment)
        assert (done.returncode, done.stdout.strip()) == (0, "Provisioned."), done.stderr
    assert_it_serves(urls, "applied_definer")
    provision(superuser_url=superuser, **urls, definer="applied_definer")  # with tables and functions there
    assert_it_serves_still(urls)


def assert_it_serves_still(urls: dict[str, str]) -> None:
    with psycopg.connect(urls["app_url"]) as connection:
        assert connection.execute("SELECT tenants_find_tenant('acme')").fetchone()[0]


def test_passwords_may_hold_any_character_and_change_when_it_runs_again(other_stores):
    superuser = other_stores.postgres.superuser_url()
    for password in (AWKWARD, "'; DROP ROLE postgres; --", "$provision$ oh"):
        urls = urls_for(other_stores, "awkward", password)
        provision(superuser_url=superuser, **urls, definer="awkward_definer")
        for url in urls.values():
            psycopg.connect(url).close()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(urls_for(other_stores, "awkward", AWKWARD)["app_url"])


def test_running_again_takes_back_what_a_role_should_not_have(other_stores):
    urls = urls_for(other_stores, "healed")
    arguments = {"superuser_url": other_stores.postgres.superuser_url(), "definer": "healed_definer", **urls}
    provision(**arguments)
    superuser_sql(
        other_stores,
        "ALTER ROLE healed_app SUPERUSER BYPASSRLS CREATEDB CREATEROLE",
        "ALTER ROLE healed_definer LOGIN",
    )
    provision(**arguments)
    found = superuser_sql(
        other_stores,
        "SELECT rolname::text, rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole, rolcanlogin"
        " FROM pg_roles WHERE rolname IN ('healed_app', 'healed_definer') ORDER BY 1",
    )
    assert found == [("healed_app", False, True), ("healed_definer", False, False)]


def test_nobody_else_may_connect_to_the_database_or_make_anything_in_it(other_stores):
    superuser_sql(other_stores, "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN PASSWORD 'x'")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(other_stores.postgres.url("stranger", "x", "strata"))
    for role in ("app", "admin"):
        with psycopg.connect(other_stores.urls()[f"{role}_url"]) as connection:
            for statement in ("CREATE TABLE mine ()", "CREATE TEMP TABLE mine ()", "CREATE SCHEMA mine"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(statement)


def test_the_database_is_utf8_and_both_ways_make_it_alike(other_stores):
    urls = other_stores.urls()
    encoding = "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'strata'"
    assert superuser_sql(other_stores, encoding) == [("UTF8",)]
    assert "ENCODING 'UTF8' TEMPLATE template0" in script(**urls)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"app_url": "postgresql://o@/strata"}, "three different roles"),
        ({"app_url": "postgresql:///strata"}, "three different roles"),
        ({"app_url": "postgresql://a@/other"}, "one and the same database"),
        ({"app_url": "postgresql://a@", "owner_url": "postgresql://o@", "admin_url": "postgresql://m@"},
         "one and the same database"),
    ],
)  # fmt: skip
def test_urls_that_do_not_fit_together_are_told_with_a_sentence(change, sentence):
    urls = {
        "app_url": "postgresql://a@/strata",
        "owner_url": "postgresql://o@/strata",
        "admin_url": "postgresql://m@/strata",
    }
    with pytest.raises(ValueError, match=sentence):
        script(**urls | change)


def test_a_superuser_that_cannot_connect_is_told_with_a_sentence(other_stores):
    wrong = make_conninfo(other_stores.postgres.superuser_url(), password="wrong")
    environment = environment_for(other_stores.urls(), "strata_definer")
    done = run_manage("provision", "--apply", wrong, environment=environment)
    assert done.returncode == 1
    assert "password authentication failed" in done.stderr
    assert "Traceback" not in done.stderr
