"""Row-level security as migration operations, so that no tenant table can be made without its walls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.conf import settings
from django.db import connections
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

TENANT_MATCHES = "(SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)"
FROZEN = "((SELECT public.tenants_frozen())::text[])"
# As a test for NULL the planner takes it to leave nearly every row, which it does; of `<> ALL` of an array
# that it does not know it would expect next to none.
NOT_FROZEN = "nullif({user} = ANY ({frozen}), true) IS NOT NULL"
Grant = Literal["SELECT", "INSERT", "UPDATE", "DELETE"]
ALL_GRANTS: tuple[Grant, ...] = ("SELECT", "INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of the database roles, as the three URLs give them."""

    app: str
    owner: str
    admin: str
    definer: str


def roles() -> Roles:
    """The roles of this deployment."""
    users = {alias: str(connections[alias].settings_dict["USER"]) for alias in ("default", "owner", "admin")}
    return Roles(users["default"], users["owner"], users["admin"], settings.DATABASE_DEFINER_ROLE)


def policy_statements(table: str, tenant_column: str = "tenant_id", *, app_using: str = "") -> list[str]:
    """The statements that wall `table`: forced RLS and one policy per role.

    The owner's policy is not a hole: without it, foreign keys would be validated against nothing.
    """
    names = roles()
    mine = app_using or f"{tenant_column} = {TENANT_MATCHES}"
    statements = [
        f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
        f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
        f'DROP POLICY IF EXISTS app ON "{table}"',
        f'CREATE POLICY app ON "{table}" TO "{names.app}" USING ({mine}) WITH CHECK ({mine})',
    ]
    for policy, role in (("owner", names.owner), ("admin", names.admin)):
        statements += [
            f'DROP POLICY IF EXISTS {policy} ON "{table}"',
            f'CREATE POLICY {policy} ON "{table}" TO "{role}" USING (true) WITH CHECK (true)',
        ]
    return statements


class DatabaseOperation(Operation):
    """A migration operation that only the database sees."""

    reduces_to_sql = True
    reversible = True

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Django's models stay as they are."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for statement in self.forwards():
            schema_editor.execute(statement, params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for statement in self.backwards():
            schema_editor.execute(statement, params=None)

    def forwards(self) -> list[str]:
        raise NotImplementedError

    def backwards(self) -> list[str]:
        """Nothing to undo: dropping the table takes its walls along."""
        return []


class IsolateTable(DatabaseOperation):
    """Makes a freshly created table a tenant's: key, foreign keys, forced RLS, policies and grants.

    The primary key becomes `(tenant_id, id)`, so that the schema distributes by tenant; `references` lists
    `(column, table)` pairs that become foreign keys including the tenant, deleted along with their target.
    """

    def __init__(
        self,
        table: str,
        *,
        tenant_column: str = "tenant_id",
        references: Sequence[tuple[str, str]] = (),
        grants: Sequence[Grant] = ALL_GRANTS,
        admin_grants: Sequence[Grant] = ALL_GRANTS,
    ) -> None:
        self.table, self.tenant_column = table, tenant_column
        self.references = tuple(references)
        self.grants, self.admin_grants = tuple(grants), tuple(admin_grants)

    def describe(self) -> str:
        return f"Isolate {self.table} by tenant"

    def forwards(self) -> list[str]:
        names, table = roles(), self.table
        statements = []
        if self.tenant_column == "tenant_id":
            statements += [
                f'ALTER TABLE "{table}" DROP CONSTRAINT "{table}_pkey"',
                f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_pkey" PRIMARY KEY (tenant_id, id)',
            ]
        for column, target in self.references:
            statements.append(
                f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_{column}_fk"'
                f' FOREIGN KEY (tenant_id, "{column}") REFERENCES "{target}" (tenant_id, id)'
                " ON DELETE CASCADE"
            )
        return [
            *statements,
            *policy_statements(table, self.tenant_column),
            f'GRANT {", ".join(self.grants)} ON "{table}" TO "{names.app}"',
            f'GRANT {", ".join(self.admin_grants)} ON "{table}" TO "{names.admin}"',
        ]


class DefinerFunction(DatabaseOperation):
    """A SECURITY DEFINER function, owned by the NOLOGIN definer role, callable by the app role only.

    `reads` names the tables whose rows the function may see; each gets a SELECT policy for that role.
    """

    def __init__(
        self,
        signature: str,
        *,
        returns: str,
        body: str,
        reads: Sequence[str],
        language: Literal["sql", "plpgsql"] = "sql",
        parallel: bool = False,
    ) -> None:
        self.signature, self.returns, self.body, self.reads = signature, returns, body, tuple(reads)
        self.language, self.parallel = language, parallel

    @property
    def name(self) -> str:
        """With the types of its arguments, which tell it from others."""
        arguments = self.signature.split("(")[1].rstrip(")")
        types = ", ".join(part.split()[1] for part in arguments.split(",") if part)
        return f"{self.signature.split('(')[0]}({types})"

    def describe(self) -> str:
        return f"Create the definer function {self.signature}"

    def forwards(self) -> list[str]:
        names = roles()
        statements = []
        for table in self.reads:
            statements += [
                f'DROP POLICY IF EXISTS definer ON "{table}"',
                f'CREATE POLICY definer ON "{table}" FOR SELECT TO "{names.definer}" USING (true)',
                f'GRANT SELECT ON "{table}" TO "{names.definer}"',
            ]
        name = self.name
        return [
            *statements,
            f"CREATE OR REPLACE FUNCTION {self.signature} RETURNS {self.returns}"
            f" LANGUAGE {self.language} STABLE {'PARALLEL SAFE ' if self.parallel else ''}SECURITY DEFINER"
            " SET search_path = pg_catalog, public, pg_temp"  # pg_temp, unnamed, comes first
            f" AS $function$ {self.body} $function$",
            f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC",
            f'GRANT EXECUTE ON FUNCTION {name} TO "{names.app}"',
            f'ALTER FUNCTION {name} OWNER TO "{names.definer}"',
        ]


def not_frozen(user_column: str) -> str:
    """The condition under which a row is no restricted person's. Who is one is asked once a statement."""
    return NOT_FROZEN.format(user=user_column, frozen=FROZEN)


class FreezeTable(DatabaseOperation):
    """Keeps the rows of people whose memory is restricted from the app role: it neither sees nor changes nor
    adds any, unless its scope was opened for that (`tenants.scope.restricted_shown`).

    `rows` is the condition of a row that is left; otherwise the one whose user is not restricted. `before`
    is that of a table that was frozen already, which holds again once this is taken back.
    """

    def __init__(self, table: str, *, rows: str = "", before: str = "") -> None:
        self.table, self.rows, self.before = table, rows, before

    def describe(self) -> str:
        return f"Freeze the rows of restricted people in {self.table}"

    def forwards(self) -> list[str]:
        return self._statements(self.rows or not_frozen("user_id"))

    def backwards(self) -> list[str]:
        return self._statements(self.before)

    def _statements(self, rows: str) -> list[str]:
        create = (
            f'CREATE POLICY restricted ON "{self.table}" AS RESTRICTIVE TO "{roles().app}"'
            f" USING ({rows}) WITH CHECK ({rows})"
        )
        return [f'DROP POLICY IF EXISTS restricted ON "{self.table}"', *([create] if rows else [])]


class DropFunction(DatabaseOperation):
    """Takes a definer function away."""

    def __init__(self, function: DefinerFunction) -> None:
        self.function = function

    def describe(self) -> str:
        return f"Drop the definer function {self.function.name}"

    def forwards(self) -> list[str]:
        return [f"DROP FUNCTION IF EXISTS {self.function.name}"]

    def backwards(self) -> list[str]:
        return self.function.forwards()
