"""Roles, database, extension: what a superuser has to do once before the first migration."""

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

DEFINER = "strata_definer"
# A session's row is locked while events are appended to it. A process that froze then must not hold the lock
# for ever, nor those that gave up waiting their connections. Set on the role, since a pooler between takes no
# settings from its clients.
APP_LIMITS = {"statement_timeout": "30s", "idle_in_transaction_session_timeout": "30s"}


def provision(
    *, superuser_url: str, app_url: str, owner_url: str, admin_url: str, definer: str = DEFINER
) -> None:
    """Creates the roles, the database named in the URLs and the vector extension; safe to repeat.

    Raises psycopg.Error when the superuser cannot connect or may not do this.
    """
    roles, database = _role_passwords(app_url, owner_url, admin_url)
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        for statement in role_statements(roles, definer):
            connection.execute(statement)
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            connection.execute(create_statement(database, list(roles)))
    with psycopg.connect(make_conninfo(superuser_url, dbname=database), autocommit=True) as connection:
        for statement in schema_statements(list(roles), definer, database):
            connection.execute(statement)


def script(*, app_url: str, owner_url: str, admin_url: str, definer: str = DEFINER) -> str:
    """The same as SQL text for an administrator; passwords appear as placeholders."""
    roles, database = _role_passwords(app_url, owner_url, admin_url)
    placeholders = dict.fromkeys(roles, "CHANGE-ME")
    connect = sql.SQL("\\connect {}").format(sql.Identifier(database))
    parts = [
        *role_statements(placeholders, definer),
        create_statement(database, list(roles)),
        connect,
        *schema_statements(list(roles), definer, database),
    ]
    lines = [part.as_string(None) for part in parts]
    return "\n".join(line if line.startswith("\\") else f"{line};" for line in lines) + "\n"


def role_statements(roles: dict[str, str], definer: str) -> list[sql.Composed]:
    """Creates or updates the three login roles and the definer role; none may bypass RLS."""
    statements = [_create_role(name, "LOGIN") for name in roles] + [_create_role(definer, "NOLOGIN")]
    statements += [_set_password(name, password) for name, password in roles.items() if password]
    app, owner, _admin = roles
    statements += [_set_limit(app, name, value) for name, value in APP_LIMITS.items()]
    # The owner must be able to hand a function over to the definer role.
    statements.append(sql.SQL("GRANT {} TO {}").format(sql.Identifier(definer), sql.Identifier(owner)))
    return statements


def create_statement(database: str, roles: list[str]) -> sql.Composed:
    """The database, in UTF-8 whatever the server's own default is."""
    _app, owner, _admin = roles
    return sql.SQL("CREATE DATABASE {} OWNER {} ENCODING 'UTF8' TEMPLATE template0").format(
        sql.Identifier(database), sql.Identifier(owner)
    )


def schema_statements(roles: list[str], definer: str, database: str) -> list[sql.Composed]:
    """The extension and who may use or create what in the schema."""
    app, owner, admin = roles
    every = sql.SQL(", ").join(sql.Identifier(name) for name in (*roles, definer))
    makers = sql.SQL(", ").join(sql.Identifier(name) for name in (owner, definer))
    return [
        sql.SQL("CREATE EXTENSION IF NOT EXISTS vector").format(),
        sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)),
        sql.SQL("GRANT CONNECT ON DATABASE {} TO {}, {}, {}").format(
            sql.Identifier(database), sql.Identifier(app), sql.Identifier(owner), sql.Identifier(admin)
        ),
        sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC").format(),
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(every),
        sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(makers),
    ]


def _create_role(name: str, login: str) -> sql.Composed:
    return sql.SQL(
        "DO $provision$ BEGIN CREATE ROLE {role} {attributes};"
        " EXCEPTION WHEN duplicate_object THEN ALTER ROLE {role} {attributes}; END $provision$"
    ).format(
        role=sql.Identifier(name),
        attributes=sql.SQL(f"{login} NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"),
    )


def _set_limit(role: str, name: str, value: str) -> sql.Composed:
    return sql.SQL("ALTER ROLE {} SET {} = {}").format(
        sql.Identifier(role), sql.Identifier(name), sql.Literal(value)
    )


def _set_password(name: str, password: str) -> sql.Composed:
    """A statement of its own: a password may hold what would end the quotes of a DO block."""
    return sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(name), sql.Literal(password))


def _role_passwords(*urls: str) -> tuple[dict[str, str], str]:
    """The role names with their passwords, in the order app, owner, admin, and the database's name."""
    parsed = [conninfo_to_dict(url) for url in urls]
    names = [str(parts.get("user") or "") for parts in parsed]
    if len(set(names)) != len(names) or not all(names):
        raise ValueError("The app, owner and admin URLs must name three different roles.")
    databases = {str(parts.get("dbname") or "") for parts in parsed}
    if len(databases) != 1 or "" in databases:
        raise ValueError("The app, owner and admin URLs must name one and the same database.")
    return {name: str(parts.get("password") or "") for name, parts in zip(names, parsed, strict=True)}, (
        databases.pop()
    )
