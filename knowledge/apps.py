from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    """Documents and procedures: what is known rather than remembered."""

    name = "knowledge"

    def ready(self) -> None:
        from knowledge.embedding import embed_kind, register_vectors
        from knowledge.privacy import register_handlers
        from tenants.jobs import kinds

        register_handlers()
        register_vectors()
        kinds.register(embed_kind())
