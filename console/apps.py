from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The pages people open."""

    name = "console"
