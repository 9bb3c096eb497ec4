from django.apps import AppConfig
from django.db.backends.signals import connection_created


class TenantsConfig(AppConfig):
    """Who is calling, and the walls between tenants."""

    name = "tenants"

    def ready(self) -> None:
        from tenants import checks  # noqa: F401  registers the system checks
        from tenants.privacy import erasure, export
        from tenants.privacy.handlers import register_handlers
        from tenants.scope import guard_connection

        connection_created.connect(guard_connection, dispatch_uid="tenants.scope")
        register_handlers()
        erasure.register_kinds()
        export.register_kinds()
