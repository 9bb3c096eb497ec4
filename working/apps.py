from django.apps import AppConfig


class WorkingConfig(AppConfig):
    """Sessions, turns and events: the log in PostgreSQL, its newest part in Redis."""

    name = "working"

    def ready(self) -> None:
        from working.privacy import register_handlers

        register_handlers()
