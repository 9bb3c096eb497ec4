"""What the routes of this dialect read from the query string, for the OpenAPI document alone."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

TEXT = {"type": "string", "maxLength": 255}


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, TEXT, description=description)


def _number(
    name: str, description: str, default: int | None = None, *, least: int = 1, most: int | None = None
) -> OpenApiParameter:
    kind: dict[str, Any] = {"type": "integer", "minimum": least}
    return OpenApiParameter(
        name, kind | ({"maximum": most} if most else {}), description=description, default=default
    )


USER = _text("user_id", "Only of this user.")
NAMESPACE = _text("namespace", "Only of this namespace.")
OF_SESSION = _text("session_id", "Only of the session with this id.")
LIMIT = _number("limit", "The most ids in one answer.", 20, most=100)
OFFSET = _number("offset", "How many are left out before them.", 0, least=0)

# The session, beside the id in the path.
SESSION = [
    _text("user_id", "The user whose session it is, exactly; before one that the body names."),
    _text("namespace", "The namespace of the session, exactly; before one that the body names."),
]
WINDOW = [
    _text("model_name", "The model whose window of tokens counts; an unknown one has the default."),
    _number("context_window_max", "The window of tokens itself."),
]
RECENT = _number("recent_messages_limit", "Only so many messages, those that were said last.")

# Records.
WHOSE_RECORD = [
    _text("user_id", "Whose record is meant, where several go by one id; empty: nobody's."),
    _text("namespace", "Of which namespace it is; empty: of none."),
]
RECORDS = OpenApiParameter("memory_ids", str, many=True, description="The records to delete; repeated.")
OPTIMIZE = OpenApiParameter(
    "optimize_query",
    bool,
    description="Whether a language model may put the text in other words.",
    default=False,
)
FILLED = TEXT | {"minLength": 1}  # an empty one is refused
OF_USER = OpenApiParameter("user_id", FILLED, description="Only of this user.")
OF_NAMESPACE = OpenApiParameter("namespace", FILLED, description="Only of this namespace.")
FORGOTTEN = [
    OF_USER,
    OF_NAMESPACE,
    OpenApiParameter("session_id", FILLED, description="Only of the session with this id."),
]
LOOKED_AT = _number("limit", "How many records are looked at, the oldest first.", 1_000)
DRY_RUN = OpenApiParameter(
    "dry_run",
    bool,
    description="Only tell what would be deleted; by default so, but for `agent-memory-client` up to 0.14.0.",
)

# Groups of summary views.
OF_GROUP = [USER, NAMESPACE, OF_SESSION, _text("memory_type", "Only of this kind of memory.")]
