from django.apps import AppConfig


class ObservationsConfig(AppConfig):
    """Observations: explicit memories of agents and people."""

    name = "observations"
