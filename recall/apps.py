from django.apps import AppConfig


class RecallConfig(AppConfig):
    """What spans kinds of memory: recall, session start and end."""

    name = "recall"
