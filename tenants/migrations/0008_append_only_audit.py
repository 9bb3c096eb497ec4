"""Nobody but the owner of the schema can change or remove what the audit log says."""

from django.db import migrations

from tenants.isolation import DatabaseOperation, roles


class AppendOnly(DatabaseOperation):
    """Leaves the app and admin roles reading and adding rows, whatever else they were granted meanwhile, on
    the table or on a column of it.

    By privileges and not by a trigger: a distributed table takes none.
    """

    def __init__(self, table: str) -> None:
        self.table = table

    def describe(self) -> str:
        return f"Make {self.table} append-only"

    def forwards(self) -> list[str]:
        names = roles()
        people = f'"{names.app}", "{names.admin}"'
        return [
            f'REVOKE ALL ON "{self.table}" FROM PUBLIC, {people}',
            f'GRANT SELECT, INSERT ON "{self.table}" TO {people}',
        ]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0007_embedding_generations")]

    operations = [AppendOnly("tenants_auditentry")]
