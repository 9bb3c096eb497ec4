from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    """Documents and procedures: what is known rather than remembered."""

    name = "knowledge"

    def ready(self) -> None:
        from knowledge.privacy import register_handlers

        register_handlers()
