from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """What each session has already been told."""

    name = "ledger"

    def ready(self) -> None:
        from ledger.privacy import register_handlers

        register_handlers()
