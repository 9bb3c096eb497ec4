from django.apps import AppConfig


class RecallConfig(AppConfig):
    """What spans kinds of memory: recall, session start and end."""

    name = "recall"

    def ready(self) -> None:
        from recall.lifecycle import end_idle_kind
        from recall.rewriting import rewrite_kind
        from tenants.jobs import kinds

        kinds.register(end_idle_kind())
        kinds.register(rewrite_kind())
