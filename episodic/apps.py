from django.apps import AppConfig


class EpisodicConfig(AppConfig):
    """Episodes and their embeddings."""

    name = "episodic"

    def ready(self) -> None:
        from episodic.compacting import compaction_kind
        from episodic.embedding import episode_vectors
        from episodic.entity_embedding import slot_vectors
        from episodic.forgetting import forgetting_kind
        from episodic.privacy import register_handlers
        from episodic.retention import retention_kind
        from tenants import vectors
        from tenants.jobs import kinds

        register_handlers()
        vectors.register(episode_vectors())
        vectors.register(slot_vectors())
        kinds.register(retention_kind())
        kinds.register(compaction_kind())
        kinds.register(forgetting_kind())
