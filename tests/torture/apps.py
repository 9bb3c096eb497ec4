from django.apps import AppConfig


class TortureConfig(AppConfig):
    """Registers the kinds of jobs whose effects are counted, in workers and writers of these tests alone."""

    name = "tests.torture"

    def ready(self) -> None:
        from tests.torture import kinds

        kinds.register_all()
