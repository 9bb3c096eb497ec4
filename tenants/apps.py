from django.apps import AppConfig
from django.db.backends.signals import connection_created


class TenantsConfig(AppConfig):
    """Who is calling, and the walls between tenants."""

    name = "tenants"

    def ready(self) -> None:
        from tenants import checks  # noqa: F401  registers the system checks
        from tenants.filling import fill_kind
        from tenants.jobs import kinds
        from tenants.json_columns import register_dumper
        from tenants.privacy import erasure, export
        from tenants.privacy.handlers import register_handlers
        from tenants.scope import guard_connection
        from tenants.walls.registry import register
        from tenants.walls.tables import around_door, table_door

        register_dumper()
        connection_created.connect(guard_connection, dispatch_uid="tenants.scope")
        register_handlers()
        register(table_door(), around_door())
        erasure.register_kinds()
        export.register_kinds()
        kinds.register(fill_kind())
