from django.apps import AppConfig


class MemoryProjectConfig(AppConfig):
    """Holds the commands that start, replay and evaluate the whole."""

    name = "memoryproject"

    def ready(self) -> None:
        from memoryproject import checks  # noqa: F401
