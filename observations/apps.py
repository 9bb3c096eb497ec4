from django.apps import AppConfig


class ObservationsConfig(AppConfig):
    """Observations: what agents and people noted on purpose."""

    name = "observations"

    def ready(self) -> None:
        from observations.bulk_jobs import bulk_kind
        from observations.embedding import embed_kind, register_vectors
        from observations.privacy import register_handlers
        from tenants.jobs import kinds

        register_handlers()
        register_vectors()
        kinds.register(embed_kind())
        kinds.register(bulk_kind())
