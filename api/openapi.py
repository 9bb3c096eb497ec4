"""What the OpenAPI document shows beyond the views: our authentication, and the errors of each dialect."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from api.aegis.schemas import ERROR
from api.agentops.errors import PATHS as AGENTOPS
from api.agentops.schemas import ERROR as AGENTOPS_ERROR
from api.ams.schemas import ERROR as AMS_ERROR
from api.idempotency import HEADER
from api.kaos.schemas import ERROR as KAOS_ERROR
from api.model_schemas import ModelExtension
from api.native.schemas import PROBLEM
from api.views import LONGEST_ID

# Prefix of the paths: media type and component of the errors.
DIALECTS = {
    "/api/v1/": ("application/problem+json", "Problem"),
    "/working-memory/": ("application/json", "AegisError"),
    "/episodic/": ("application/json", "AegisError"),
    "/ledger/": ("application/json", "AegisError"),
    "/v1/": ("application/json", "AmsError"),
    "/memory/": ("application/json", "KaosError"),
    **dict.fromkeys(AGENTOPS, ("application/json", "AgentOpsError")),
}
COMPONENTS = {
    "Problem": PROBLEM,
    "AegisError": ERROR,
    "AgentOpsError": AGENTOPS_ERROR,
    "AmsError": AMS_ERROR,
    "KaosError": KAOS_ERROR,
}
__all__ = ["ModelExtension", "add_what_is_common"]  # drf-spectacular finds what is imported
ALWAYS = (401, 403, 422, 503)
METHODS = ("get", "post", "put", "patch", "delete")
# Where a session must exist already; elsewhere it is made, or its absence is an empty answer.
NEEDS_SESSION = {
    ("get", "/api/v1/sessions/{session_id}"),
    ("get", "/api/v1/sessions/{session_id}/events"),
    ("get", "/api/v1/sessions/{session_id}/window"),
    ("post", "/api/v1/sessions/{session_id}/end"),
    ("get", "/api/v1/sessions/{session_id}/checkpoint"),
    ("get", "/v1/working-memory/{session_id}"),
    ("get", "/memory/sessions/{session_id}"),
}
NEEDS_AGENT = {
    ("get", "/api/v1/agents/{name}"),
    ("post", "/api/v1/hooks/tool-result"),
    ("post", "/api/v1/hooks/before-tool"),
}
HAS_VERSIONS = {
    ("put", "/api/v1/sessions/{session_id}/checkpoint"),
    ("patch", "/api/v1/policy"),
    ("patch", "/api/v1/episodes/{episode_id}"),
    ("post", "/api/v1/policy/rollback"),
    ("put", "/v1/working-memory/{session_id}"),
    ("post", "/v1/working-memory/{session_id}/messages"),
}
NEEDS_OBSERVATION = {
    *((method, "/observations/{observation_id}") for method in ("get", "patch")),
    ("get", "/timeline"),
}
NEEDS_SLOT = {
    *((method, "/api/v1/entities/{user_id}/{key}") for method in ("get", "delete")),
    ("get", "/api/v1/entities/{user_id}/{key}/history"),
    *(("post", f"/api/v1/entities/{{user_id}}/{{key}}/{verb}") for verb in ("confirm", "pin", "unpin")),
}
NEEDS_VERSION = {("get", "/api/v1/policy/diff"), ("post", "/api/v1/policy/rollback")}
# Or a procedure that is named, or an item.
NEEDS_MEMORY = {
    ("post", "/api/v1/assemble"), ("post", "/api/v1/feedback"), ("get", "/api/v1/store/items"),
}  # fmt: skip
NEEDS_ITEM = (
    "/api/v1/documents/{",
    "/api/v1/episodes/{",
    "/api/v1/evaluation/queries/{",
    "/api/v1/jobs/{",
    "/api/v1/observations/{",
    "/api/v1/procedures/{",
    "/api/v1/webhooks/{",
    "/api/v1/webhooks/deliveries/{",
    "/v1/long-term-memory/{",
    "/v1/summary-views/{",
    "/v1/tasks/{",
)
# Where two writers can meet, or an id can mean several things.
CAN_CONFLICT = {
    ("get", "/context"),
    ("get", "/api/v1/jobs/{job_id}/download"),
}
# For whoever comes: no key can be wrong there.
KEYLESS = {
    "/api/v1/exports/{token}": {404, 410, 422, 503},
    "/api/v1/receipts/key": {422, 503},
    "/v1/health": {422},
}
# Below these, an id can mean several users' sessions.
NAMES_SESSION = ("/api/v1/sessions/{", "/working-memory/", "/ledger/", "/memory/sessions/{", "/memory/events")
# Writes that PostgreSQL does not keep or that add nothing when they are sent again, and what only looks like
# one.
NOT_ONCE = (
    "/working-memory/", "/episodic/search", "/api/v1/recall", "/api/v1/documents/search", "/import",
    "/v1/long-term-memory/search", "/v1/memory/prompt", "/api/v1/store/items/search",
    "/api/v1/store/namespaces",
)  # fmt: skip
IDEMPOTENCY_KEY = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_ID},
    "description": "Names this write: sent again with the same key, it is answered again, not done again.",
}


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


def add_what_is_common(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular's hook: adds the errors that every route of a dialect can answer, in its shape, and the
    header that every write understands."""
    for path, operations in result["paths"].items():
        found = next((shape for prefix, shape in DIALECTS.items() if path.startswith(prefix)), None)
        if found is None:
            continue
        media_type, component = found
        result["components"]["schemas"].setdefault(component, COMPONENTS[component])
        content = {media_type: {"schema": {"$ref": f"#/components/schemas/{component}"}}}
        for method in set(operations) & set(METHODS):
            if _is_done_once(method, path):
                operations[method].setdefault("parameters", []).append(IDEMPOTENCY_KEY)
            for status in _statuses(method, path.rstrip("/")):
                error = {"description": HTTPStatus(status).phrase, "content": content}
                operations[method]["responses"].setdefault(str(status), error)
    return result


def _is_done_once(method: str, path: str) -> bool:
    return method != "get" and not path.startswith(NOT_ONCE) and not path.rstrip("/").endswith("/check")


def _statuses(method: str, path: str) -> list[int]:
    if path in KEYLESS:
        return sorted(KEYLESS[path])
    # What elsewhere is 422 is 400 in this dialect.
    statuses = {400 if one == 422 else one for one in ALWAYS} if path.startswith(AGENTOPS) else {*ALWAYS}
    needed = NEEDS_SESSION | NEEDS_AGENT | NEEDS_OBSERVATION | NEEDS_SLOT | NEEDS_VERSION | NEEDS_MEMORY
    if (method, path) in needed or path.startswith(NEEDS_ITEM):
        statuses.add(404)
    if (method, path) in HAS_VERSIONS:
        statuses.add(412)
    if path.startswith(NAMES_SESSION) or (method, path) in CAN_CONFLICT or _is_done_once(method, path):
        statuses.add(409)
    if path == "/api/v1/events/stream":
        statuses.add(429)
    if path.startswith("/v1/") and method != "get":
        statuses.add(400)
    if method in {"post", "put", "patch"} or (method == "delete" and path.startswith("/working-memory/")):
        statuses.add(413)
    return sorted(statuses)
