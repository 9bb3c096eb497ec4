from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST dialects."""

    name = "api"

    def ready(self) -> None:
        from api import openapi  # noqa: F401  teaches drf-spectacular our authentication
        from api.walls import http_door, mcp_door
        from tenants.walls.registry import register

        register(http_door(), mcp_door())
