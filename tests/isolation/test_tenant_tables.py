"""acme and globex must never see each other: for each tenant table, with a proof that the test would tell."""

import psycopg
import pytest
from psycopg import sql

from tenants.isolation import roles
from tests.isolation.tables import FACTORIES, TABLES, TENANT_MODELS, tenant_column
from tests.isolation.walls import Connection, assert_isolated, grants, leaks

EVERY_TABLE = pytest.mark.parametrize("table", sorted(TABLES))


def test_every_tenant_table_has_a_factory_here():
    missing = [model._meta.label for model in TENANT_MODELS if model not in FACTORIES]
    assert not missing, f"tests/isolation/tables.py needs a factory for {', '.join(missing)}"


@EVERY_TABLE
def test_globex_reaches_no_row_of_acme(table, as_app, rows_of):
    assert_isolated(as_app, rows_of(table))


@EVERY_TABLE
def test_the_check_passes_before_and_after_the_wall_is_taken_down(table, as_superuser, rows_of):
    """The mutations below run as a superuser that steps down to the app role: so does this control."""
    become_app(as_superuser)
    assert_isolated(as_superuser, rows_of(table))


@EVERY_TABLE
def test_the_check_goes_red_when_the_policy_lets_everything_through(table, as_superuser, rows_of):
    name, rows = sql.Identifier(table), rows_of(table)  # stored before the table is locked
    take_away_the_second_wall(as_superuser, name)
    as_superuser.execute(sql.SQL("ALTER POLICY app ON {} USING (true) WITH CHECK (true)").format(name))
    assert_goes_red(as_superuser, rows)


@EVERY_TABLE
def test_the_check_goes_red_when_row_level_security_is_off(table, as_superuser, rows_of):
    name, rows = sql.Identifier(table), rows_of(table)
    as_superuser.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(name))
    assert_goes_red(as_superuser, rows)


@EVERY_TABLE
def test_the_check_notices_a_hole_in_reading_and_one_in_writing_alone(table, as_superuser, rows_of):
    """A policy whose USING is open leaks what is read; one whose CHECK is open, what is written."""
    name, rows = sql.Identifier(table), rows_of(table)
    take_away_the_second_wall(as_superuser, name)
    become_app(as_superuser)
    granted = grants(as_superuser, table)
    as_superuser.execute("RESET ROLE")
    mine = sql.SQL("{} = nullif(current_setting('app.tenant_id', true), '')::uuid").format(
        sql.Identifier(tenant_column(table))
    )
    alter = sql.SQL("ALTER POLICY app ON {} USING ({}) WITH CHECK ({})")
    as_superuser.execute(alter.format(name, mine, sql.SQL("true")))
    become_app(as_superuser)
    assert leaks(as_superuser, rows) == {"INSERT", "UPDATE"} & granted
    as_superuser.execute("RESET ROLE")
    as_superuser.execute(alter.format(name, sql.SQL("true"), mine))
    become_app(as_superuser)
    assert leaks(as_superuser, rows) == {"SELECT", "UPDATE", "DELETE"} & granted


def assert_goes_red(connection: Connection, rows) -> None:
    """The very check of the isolation test fails, by every command that the app role has a grant for."""
    become_app(connection)
    with pytest.raises(AssertionError, match="globex reaches acme"):
        assert_isolated(connection, rows)
    assert leaks(connection, rows) == grants(connection, rows.table)


def take_away_the_second_wall(connection: Connection, name: sql.Identifier) -> None:
    """The policy that hides restricted people asks, of some tables, for a session that can be seen: what the
    first wall lets through would stop there, and the hole not be noticed."""
    connection.execute(sql.SQL("DROP POLICY IF EXISTS restricted ON {}").format(name))


def become_app(connection: Connection) -> None:
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(roles().app)))


def test_a_mutation_is_gone_after_its_test(as_superuser):
    """Each ran in a transaction that was rolled back; nothing of it may remain for other tests."""
    policies = as_superuser.execute(
        "SELECT tablename, qual, with_check FROM pg_policies WHERE policyname = 'app'"
    ).fetchall()
    assert {table for table, _using, _check in policies} == set(TABLES)
    assert all("app.tenant_id" in using and "app.tenant_id" in check for _table, using, check in policies)


@EVERY_TABLE
@pytest.mark.parametrize("setting", ["unset", "empty"])
def test_without_a_tenant_nothing_is_seen_and_nothing_can_be_written(table, setting, as_app, rows_of):
    rows = rows_of(table)
    if setting == "empty":
        as_app.execute("SET app.tenant_id = ''")
    granted = grants(as_app, table)
    for command in granted:
        statement = {
            "SELECT": sql.SQL("SELECT 1 FROM {}"),
            "UPDATE": sql.SQL("UPDATE {} SET {tenant} = {tenant} RETURNING 1"),
            "DELETE": sql.SQL("DELETE FROM {} RETURNING 1"),
        }.get(command)
        if statement is not None:
            composed = statement.format(sql.Identifier(table), tenant=sql.Identifier(tenant_column(table)))
            assert as_app.execute(composed).fetchall() == []
    if "INSERT" in granted:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            insert(as_app, table, rows.foisted)


@EVERY_TABLE
def test_a_garbled_tenant_is_an_error_and_never_data(table, as_app, rows_of):
    rows_of(table)
    as_app.execute("SET app.tenant_id = 'acme'' OR true --'")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        as_app.execute(sql.SQL("SELECT 1 FROM {}").format(sql.Identifier(table)))


def insert(connection: Connection, table: str, values: dict[str, object]) -> None:
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, values)),
        sql.SQL(", ").join(sql.Placeholder() * len(values)),
    )
    connection.execute(statement, list(values.values()))


def test_after_a_commit_the_setting_is_empty_and_the_rows_are_gone_from_sight(as_app, rows_of):
    rows = rows_of("agent_episodes")
    with as_app.transaction():
        as_app.execute(f"SET LOCAL app.tenant_id = '{rows.acme}'")
        assert as_app.execute("SELECT count(*) FROM agent_episodes").fetchone()[0] > 0
    as_app.commit()
    assert as_app.execute("SELECT current_setting('app.tenant_id', true)").fetchone() == ("",)
    assert as_app.execute("SELECT count(*) FROM agent_episodes").fetchone() == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        insert(as_app, "agent_episodes", rows.foisted)


@pytest.mark.parametrize("role", ["as_app", "as_admin"])
@pytest.mark.parametrize("command", ["UPDATE {} SET actor = 'nobody'", "DELETE FROM {}", "TRUNCATE {}"])
def test_audit_entries_cannot_be_changed_or_removed(role, command, request, tenants):
    connection = request.getfixturevalue(role)
    connection.execute(f"SET LOCAL app.tenant_id = '{tenants[0]}'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"):
        connection.execute(sql.SQL(command).format(sql.Identifier("tenants_auditentry")))
