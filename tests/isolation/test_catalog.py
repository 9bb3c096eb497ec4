"""What PostgreSQL's catalog says of every table, role and function: nothing here is told by a model."""

import pytest

from tenants.isolation import TENANT_MATCHES, roles
from tests.isolation.tables import TABLES
from tests.isolation.walls import Connection

# Django's own tables. The app role reads django_migrations, for /ready, and nothing else of these.
DJANGO_TABLES = {
    "auth_group", "auth_group_permissions", "auth_permission", "auth_user", "auth_user_groups",
    "auth_user_user_permissions", "django_admin_log", "django_content_type", "django_migrations",
    "django_session",
}  # fmt: skip

# Unique across tenants, because they are looked up before a tenant is known; `_like` serves LIKE 'prefix%'.
GLOBAL_INDEXES = {
    "tenants_tenant_slug_key": "a tenant is found by its slug",
    "tenants_tenant_slug_0a9b71e6_like": "Django's companion of the slug's",
    "tenants_apikey_key_id_key": "a key is found by its id",
    "tenants_apikey_key_id_1c7f7fea_like": "Django's companion of the key id's",
    "member_user": "a person's tenants are found before one is chosen",
}
PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")


def column(connection: Connection, statement: str, *params: object) -> list:
    return [value for (value,) in connection.execute(statement, params or None).fetchall()]


def kinds(connection: Connection, kinds: str) -> set[str]:
    """Names in schema public by pg_class.relkind."""
    return set(
        column(
            connection,
            "SELECT relname::text FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind = ANY(%s)",
            list(kinds),
        )
    )


@pytest.fixture
def tables(as_owner) -> set[str]:
    """Every table of schema public, partitioned and foreign ones too."""
    return kinds(as_owner, "rpf")


def test_every_table_is_a_tenants_or_one_of_djangos(tables):
    unknown = tables - set(TABLES) - DJANGO_TABLES
    assert not unknown, f"{unknown}: give it a tenant and IsolateTable, or name it in DJANGO_TABLES"
    assert set(TABLES) <= tables
    assert tables >= DJANGO_TABLES


def test_every_table_with_a_tenant_column_is_known_as_a_tenants(as_owner):
    named = column(
        as_owner,
        "SELECT DISTINCT table_name::text FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name IN ('tenant_id', 'tenant')",
    )
    assert set(named) | {"tenants_tenant"} == set(TABLES)


def test_there_is_no_view_that_could_read_past_the_walls(as_owner):
    assert kinds(as_owner, "vm") == set()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_row_level_security_is_enabled_and_forced(table, as_owner):
    row = as_owner.execute(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = %s::regclass",
        [f'public."{table}"'],
    ).fetchone()
    assert row == (True, True)


@pytest.mark.parametrize("table", sorted(TABLES))
def test_policies_are_one_per_role(table, as_owner):
    names = roles()
    key = "id" if table == "tenants_tenant" else "tenant_id"
    found = {
        policy: (permissive, granted, command, using, check)
        for policy, permissive, granted, command, using, check in as_owner.execute(
            "SELECT policyname::text, permissive, roles::text[], cmd, qual, with_check FROM pg_policies"
            " WHERE schemaname = 'public' AND tablename = %s",
            [table],
        )
    }
    mine = normal(f"({key} = {TENANT_MATCHES})")
    permissive, granted, command, using, check = found.pop("app")
    assert (permissive, granted, command) == ("PERMISSIVE", [names.app], "ALL")
    assert (normal(using), normal(check)) == (mine, mine)
    assert found.pop("owner") == ("PERMISSIVE", [names.owner], "ALL", "true", "true")
    assert found.pop("admin") == ("PERMISSIVE", [names.admin], "ALL", "true", "true")
    if frozen := found.pop("restricted", None):  # takes from what `app` shows: tests/restrictions
        assert frozen[:3] == ("RESTRICTIVE", [names.app], "ALL")
        assert frozen[3] == frozen[4]
    definer = found.pop("definer", None)
    assert definer in (None, ("PERMISSIVE", [names.definer], "SELECT", "true", None))
    assert not found


def normal(expression: str) -> str:
    """A policy's expression without what PostgreSQL adds when it prints one."""
    for noise in ("::text", ' AS "nullif"', "(", ")", " "):
        expression = expression.replace(noise, "")
    return expression.lower()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_the_primary_key_is_tenant_and_id(table, as_owner):
    key = column(
        as_owner,
        "SELECT a.attname::text FROM pg_constraint c, unnest(c.conkey) WITH ORDINALITY k(n, place)"
        " JOIN pg_attribute a ON a.attnum = k.n"
        " WHERE c.contype = 'p' AND c.conrelid = %s::regclass AND a.attrelid = c.conrelid ORDER BY k.place",
        f'public."{table}"',
    )
    assert key == (["id"] if table == "tenants_tenant" else ["tenant_id", "id"])


FOREIGN_KEYS = """
SELECT c.conname::text, c.conrelid::regclass::text, c.confrelid::regclass::text,
       array(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k(n, place)
             JOIN pg_attribute a ON a.attnum = k.n AND a.attrelid = c.conrelid ORDER BY k.place),
       array(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k(n, place)
             JOIN pg_attribute a ON a.attnum = k.n AND a.attrelid = c.confrelid ORDER BY k.place)
FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
"""


def test_every_foreign_key_between_tenant_tables_carries_the_tenant(as_owner):
    keys = as_owner.execute(FOREIGN_KEYS).fetchall()
    between = [key for key in keys if {key[1], key[2]} & set(TABLES)]
    assert len(between) >= len(TABLES) - 1  # each belongs to a tenant by a key of its own
    for name, source, target, columns, targets in between:
        assert {source, target} <= set(TABLES), f"{name} ties a tenant table to one without a tenant"
        there = "id" if target == "tenants_tenant" else "tenant_id"
        assert ("tenant_id", there) in zip(columns, targets, strict=True), f"{name} leaves the tenant out"


def test_every_b_tree_and_every_unique_index_starts_with_the_tenant(as_owner):
    indexes = as_owner.execute(
        "SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text, m.amname::text, i.indisunique,"
        " (SELECT attname::text FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0])"
        " FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam"
        " WHERE c.relnamespace = 'public'::regnamespace"
    ).fetchall()
    stray = {
        name
        for name, table, method, is_unique, first in indexes
        if table in TABLES and (is_unique or method == "btree")
        if first != ("id" if name == "tenants_tenant_pkey" else "tenant_id")
    }
    assert stray == set(GLOBAL_INDEXES)


def privileges(connection: Connection, role: str, table: str) -> set[str]:
    statement = "SELECT p FROM unnest(%s::text[]) p WHERE has_table_privilege(%s, %s::regclass, p)"
    return set(column(connection, statement, list(PRIVILEGES), role, f'public."{table}"'))


def test_the_app_role_reads_the_list_of_migrations_and_no_other_table_of_djangos(as_owner):
    granted = {table: privileges(as_owner, roles().app, table) for table in DJANGO_TABLES}
    assert granted.pop("django_migrations") == {"SELECT"}
    assert set().union(*granted.values()) == set()


@pytest.mark.parametrize("role", ["app", "admin"])
@pytest.mark.parametrize("table", sorted(TABLES))
def test_nobody_but_the_owner_may_truncate_refer_to_or_put_triggers_on_a_tenants_table(table, role, as_owner):
    granted = privileges(as_owner, getattr(roles(), role), table)
    assert granted <= {"SELECT", "INSERT", "UPDATE", "DELETE"}


def test_what_the_app_role_may_only_read_or_add_to(as_owner):
    app = roles().app
    limited = {table: privileges(as_owner, app, table) for table in TABLES}
    assert limited["tenants_tenant"] == {"SELECT"}
    assert limited["tenants_apikey"] == {"SELECT"}
    assert limited["tenants_invitation"] == {"SELECT"}
    assert limited["tenants_auditentry"] == {"SELECT", "INSERT"}
    assert privileges(as_owner, roles().admin, "tenants_auditentry") == {"SELECT", "INSERT"}


def test_no_right_on_a_table_is_everybodys(as_owner):
    open_to_all = column(
        as_owner,
        "SELECT c.relname::text FROM pg_class c, aclexplode(c.relacl) a"
        " WHERE c.relnamespace = 'public'::regnamespace AND a.grantee = 0 AND c.relname NOT LIKE 'pg_%%'",
    )
    assert open_to_all == []


def test_no_role_of_ours_is_privileged_and_only_the_owner_is_a_member_of_another(as_owner):
    names = roles()
    ours = [names.app, names.owner, names.admin, names.definer]
    attributes = as_owner.execute(
        "SELECT rolname::text, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication,"
        " rolcanlogin FROM pg_roles WHERE rolname = ANY(%s)",
        [ours],
    ).fetchall()
    assert {row[0]: row[1:] for row in attributes} == {
        name: (False, False, False, False, False, name != names.definer) for name in ours
    }
    memberships = as_owner.execute(
        "SELECT m.member::regrole::text, m.roleid::regrole::text FROM pg_auth_members m"
        " WHERE m.member::regrole::text = ANY(%s)",
        [ours],
    ).fetchall()
    assert memberships == [(names.owner, names.definer)]


def test_only_the_owner_owns_tables_and_only_owner_and_definer_create_in_the_schema(as_owner):
    names = roles()
    owners = column(
        as_owner,
        "SELECT DISTINCT relowner::regrole::text FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind = ANY('{r,p,f,S}')",
    )
    assert owners == [names.owner]
    makers = {
        name
        for name in (names.app, names.owner, names.admin, names.definer)
        if column(as_owner, "SELECT has_schema_privilege(%s, 'public', 'CREATE')", name) == [True]
    }
    assert makers == {names.owner, names.definer}
    temporary = "SELECT has_database_privilege(%s, current_database(), 'TEMP')"
    assert column(as_owner, temporary, names.app) == [False]


# Functions that answer more than one row, and what confines these to the caller's own.
SEVERAL_ROWS = {
    # Of keyword search: the tenant of the scope stands in the statement itself, whatever is asked.
    "observations_find": (
        f" AND (s.tenant_id = {TENANT_MATCHES} AND s.corpus = ANY($5)) IS TRUE",
        "most;\nEND",
    ),
    "observations_count": (
        f" AND (s.tenant_id = {TENANT_MATCHES} AND s.corpus = ANY($2)) IS TRUE",
        "END LOOP;\nEND",
    ),
    "episodes_find": (f" AND (s.tenant_id = {TENANT_MATCHES}) IS TRUE", "at, most;\nEND"),
    "episodes_count": (f" AND (s.tenant_id = {TENANT_MATCHES}) IS TRUE", "END LOOP;\nEND"),
    "chunks_find": (f" AND (c.tenant_id = {TENANT_MATCHES} AND ($1 IS NULL", "documents, most;\nEND"),
    "chunks_count": (f" AND (c.tenant_id = {TENANT_MATCHES} AND ($1 IS NULL", "END LOOP;\nEND"),
    # One row, of the tenant of the scope.
    "tenants_frozen": (f"WHERE r.tenant_id = {TENANT_MATCHES})", ");\nEND"),
    # A person has several memberships, and sees all of them before a tenant is chosen.
    "tenants_list_memberships": ("WHERE m.user_id = wanted_user AND", "LIMIT 1000"),
}
DEFINER_FUNCTIONS = """
SELECT p.proname::text, p.proowner::regrole::text, p.proconfig, p.proretset, p.prorettype::regtype::text,
       p.prosrc, p.provolatile::text,
       EXISTS (SELECT 1 FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
               WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE'),
       array(SELECT a.grantee::regrole::text
             FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee <> 0)
FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace ORDER BY p.proname
"""


def test_definer_functions_belong_to_the_definer_and_are_fixed_and_closed(as_owner):
    names = roles()
    functions = as_owner.execute(DEFINER_FUNCTIONS).fetchall()
    assert functions
    for name, owner, config, _set, _type, source, volatility, is_public, granted in functions:
        assert owner == names.definer, name
        # pg_temp is searched first unless it is named: here it is, last.
        assert config == ["search_path=pg_catalog, public, pg_temp"], name
        assert not is_public, name
        assert set(granted) == {names.app, names.definer}, name
        assert volatility == "s", name
        only_mine, limit = SEVERAL_ROWS.get(name, ("WHERE", "LIMIT 1"))
        assert only_mine in source, name
        assert source.rstrip().endswith(limit), f"{name} could return more than the caller's own rows"
    assert set(SEVERAL_ROWS) <= {function[0] for function in functions}


def test_the_definer_owns_nothing_but_those_functions(as_owner):
    definer = roles().definer
    owned = "SELECT count(*) FROM {} WHERE {} = %s::regrole"
    assert column(as_owner, owned.format("pg_class", "relowner"), definer) == [0]
    functions = "SELECT count(*) FROM pg_proc WHERE proowner = %s::regrole AND NOT prosecdef"
    assert column(as_owner, functions, definer) == [0]
    writes = {t: privileges(as_owner, definer, t) - {"SELECT"} for t in {*TABLES, *DJANGO_TABLES}}
    assert not any(writes.values())


def test_a_lookup_answers_one_row_and_only_to_an_exact_question(as_app, tenants):
    assert column(as_app, "SELECT tenants_find_tenant('acme-walls')") == [tenants[0]]
    for question in ("", "%", "acme%", "acme-walls' OR true --"):
        assert column(as_app, "SELECT tenants_find_tenant(%s)", question) == [None]
        assert as_app.execute("SELECT * FROM tenants_find_api_key(%s)", [question]).fetchall() == []
    assert column(as_app, "SELECT tenants_find_tenant(NULL)") == [None]


def test_memberships_are_found_by_an_exact_user_and_tenant_alone(as_app, as_owner, rows_of, tenants):
    rows_of("tenants_member")
    users = dict(
        as_owner.execute(
            "SELECT tenant_id, user_id FROM tenants_member WHERE tenant_id = ANY(%s)", [list(tenants)]
        ).fetchall()
    )
    acme = tenants[0]
    listed = "SELECT tenant_id FROM tenants_list_memberships(%s)"
    found = "SELECT tenant_id FROM tenants_find_member(%s, %s)"
    for tenant in tenants:
        assert column(as_app, listed, users[tenant]) == [tenant]
    assert column(as_app, found, users[acme], "acme-walls") == [acme]
    assert column(as_app, found, users[acme], "globex-walls") == []
    for nobody in (0, -1, None):
        assert column(as_app, listed, nobody) == []
        assert column(as_app, found, nobody, "acme-walls") == []
    for question in ("", "%", "acme%", None):
        assert column(as_app, found, users[acme], question) == []


def test_a_tenant_is_found_by_its_exact_id_or_slug_alone(as_app, tenants):
    acme, _globex = tenants
    statement = "SELECT tenant_id FROM tenants_find_named_tenant(%s, %s)"
    assert column(as_app, statement, acme, None) == column(as_app, statement, None, "acme-walls") == [acme]
    for question in ("", "%", "acme%", str(acme), None):
        assert column(as_app, statement, None, question) == []
