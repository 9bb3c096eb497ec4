from django.apps import AppConfig


class RecallConfig(AppConfig):
    """What spans kinds of memory: recall, session start and end."""

    name = "recall"

    def ready(self) -> None:
        from recall.extracting.jobs import extract_kind
        from recall.indexing_turns import index_kind
        from recall.lifecycle import end_idle_kind
        from recall.nightly import compact_kind
        from recall.promotion import promote_kind
        from recall.remember.queue import remember_kind
        from recall.rewriting import rewrite_kind
        from recall.sampling import sample_kind
        from recall.summary_views import refresh_kind, run_kind
        from recall.walls import export_door, memory_door, recall_door
        from tenants.jobs import kinds
        from tenants.walls.registry import register

        kinds.register(compact_kind())
        kinds.register(end_idle_kind())
        kinds.register(extract_kind())
        kinds.register(index_kind())
        kinds.register(promote_kind())
        kinds.register(remember_kind())
        kinds.register(refresh_kind())
        kinds.register(rewrite_kind())
        kinds.register(run_kind())
        kinds.register(sample_kind())
        register(memory_door(), recall_door(), export_door())
