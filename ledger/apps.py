from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """What each session has already been told."""

    name = "ledger"
