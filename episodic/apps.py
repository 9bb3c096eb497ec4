from django.apps import AppConfig


class EpisodicConfig(AppConfig):
    """Episodes and their embeddings."""

    name = "episodic"
