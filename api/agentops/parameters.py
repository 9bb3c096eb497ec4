"""What the AgentOps routes read from the query string, for the OpenAPI document alone."""

from drf_spectacular.utils import OpenApiParameter


def _number(name: str, default: int, description: str) -> OpenApiParameter:
    return OpenApiParameter(
        name,
        {"type": "integer", "maximum": 1_000},
        default=default,
        description=f"{description}; the default for 0 and for what is no number.",
    )


PROJECT = OpenApiParameter(
    "project", str, description="In any case; with a key that is bound to one, that one by default."
)
TYPE = OpenApiParameter("type", str, description="Only observations of this type.")
SCOPE = OpenApiParameter("scope", str, description="Only observations of this scope.")
Q = OpenApiParameter("q", str, description="Words, a question, or part of a topic key with a slash.")
MATCH_MODE = OpenApiParameter(
    "match_mode",
    str,
    enum=["all", "any", "hybrid"],
    description="Every word, at least one, or words and meaning; by default every word, and words and meaning"
    " if nothing has every one.",
)
HARD = OpenApiParameter("hard", str, description="`true`: for good, not into the trash.")
QUERY = OpenApiParameter("query", str, description="The prompt; the first 500 characters count.")
SESSION_ID = OpenApiParameter(
    "session_id", str, description="Enters what is answered in the ledger of this session."
)
DEDUPE = OpenApiParameter(
    "dedupe", str, description="`true`: without what the session has been told already, by its ledger."
)
FORMAT = OpenApiParameter(
    "format", str, enum=["text"], description="`text`: a block to put into a prompt, in place of JSON."
)
OBSERVATION_ID = OpenApiParameter(
    "observation_id", int, required=True, description="The observation in the middle."
)
BEFORE = _number("before", 3, "How many older ones")
AFTER = _number("after", 3, "How many newer ones")
CONTEXT_LIMIT = OpenApiParameter(
    "limit", int, description="How many observations; by default as many as the agent's `contextLimit`, or 5."
)


def limit(default: int) -> OpenApiParameter:
    """The length of a list."""
    return _number("limit", default, "How many")
