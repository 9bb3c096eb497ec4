from django.apps import AppConfig


class ObservationsConfig(AppConfig):
    """Observations: what agents and people noted on purpose."""

    name = "observations"

    def ready(self) -> None:
        from observations.embedding import embed_kind
        from observations.privacy import register_handlers
        from tenants.jobs import kinds

        register_handlers()
        kinds.register(embed_kind())
