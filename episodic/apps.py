from django.apps import AppConfig


class EpisodicConfig(AppConfig):
    """Episodes and their embeddings."""

    name = "episodic"

    def ready(self) -> None:
        from episodic.privacy import register_handlers

        register_handlers()
