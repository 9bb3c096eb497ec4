from django.apps import AppConfig


class WorkingConfig(AppConfig):
    """Sessions, turns and events: the log in PostgreSQL, its newest part in Redis."""

    name = "working"

    def ready(self) -> None:
        from tenants.walls.registry import register
        from working.privacy import register_handlers
        from working.walls import session_door

        register_handlers()
        register(session_door())
