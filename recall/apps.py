from django.apps import AppConfig


class RecallConfig(AppConfig):
    """What spans kinds of memory: recall, session start and end."""

    name = "recall"

    def ready(self) -> None:
        from recall.indexing_turns import index_kind
        from recall.lifecycle import end_idle_kind
        from recall.nightly import compact_kind
        from recall.remember.queue import remember_kind
        from recall.rewriting import rewrite_kind
        from tenants.jobs import kinds

        kinds.register(compact_kind())
        kinds.register(end_idle_kind())
        kinds.register(index_kind())
        kinds.register(remember_kind())
        kinds.register(rewrite_kind())
