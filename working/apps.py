from django.apps import AppConfig


class WorkingConfig(AppConfig):
    """Sessions, turns and events: the log in PostgreSQL, its newest part in Redis."""

    name = "working"
