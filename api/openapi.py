"""How the OpenAPI document shows our authentication."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "api.authentication.KeyAuthentication"
    name = ["bearer", "apiKey"]

    def get_security_requirement(self, auto_schema: object) -> list[dict[str, list[str]]]:
        return [{name: []} for name in self.name]  # either of them; in one object, they would both be needed

    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer"},
            {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        ]
