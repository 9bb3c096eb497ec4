"""What the routes read from the query string, for the OpenAPI document alone; the views do the reading."""

from datetime import datetime
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from episodic.models import MemoryType

LONGEST = {"type": "string", "minLength": 1, "maxLength": 255}


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, LONGEST, description=description)


def _number(name: str, description: str, maximum: int, default: int | None = None) -> OpenApiParameter:
    kind: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": maximum}
    return OpenApiParameter(name, kind, description=description, default=default)


# The session, beside the id in path or body.
SESSION = [
    _text("user_id", "The user whose session it is; without it, the one session that the id can mean."),
    _text("namespace", "The namespace of the session; empty by default."),
]
BODY_USER = _text("user_id", "The user, where the body names none; it may not name another.")
USER_OR_NAMESPACE = [
    BODY_USER,
    _text("namespace", "The namespace, where the body names none; empty by default."),
]

# Lists.
LIMIT = _number("limit", "The most results in one answer.", 200, 50)
CURSOR = OpenApiParameter("cursor", str, description="Where to go on: `next` of the answer before.")
EVENT_CURSOR = OpenApiParameter(
    "cursor",
    {"type": "integer", "minimum": 0, "maximum": 2**62},
    description="Only events after this `seq`: `next` of the answer before.",
    default=0,
)
USER = _text("user_id", "Only of this user.")
AGENT = _text("agent_id", "Only of this agent.")
PROJECT = _text("project", "Only of this project.")
OF_SESSION = _text("session_id", "Only of the session with this id.")
NAMESPACE = _text("namespace", "Only of this namespace.")
LIST = [LIMIT, CURSOR]
OWNERS = [USER, AGENT, PROJECT]
ACTIVE = OpenApiParameter(
    "active", bool, description="Only sessions that have not ended (`true`), or only those that have."
)
EVENT_TYPES = OpenApiParameter(
    "event_types", str, many=True, description="Only events of these types: repeated, or with commas between."
)
AFTER = OpenApiParameter(
    "after",
    str,
    description="Only what was committed behind this cursor, the `id` of a frame; `0`: from the beginning of "
    "the log. Without it, from now on.",
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    str,
    OpenApiParameter.HEADER,
    description="Likewise: what clients send by themselves when they come back. It counts more than `after`.",
)
MEMORY_TYPE = OpenApiParameter(
    "memory_type",
    str,
    many=True,
    enum=MemoryType.values,
    description="Only episodes of this kind; repeated, of any of them.",
)
AS_OF = OpenApiParameter(
    "as_of", datetime, description="What held at that moment, which names its time zone; by default now."
)
HISTORY = OpenApiParameter(
    "history", bool, description="`true`: those that hold no more, too. Not beside `as_of`.", default=False
)
OF_EPISODES = [OF_SESSION, NAMESPACE, MEMORY_TYPE, AS_OF, HISTORY]

# Versions of a checkpoint.
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="Write only over one of these entity tags, or with `*` over any; else 412.",
)
IF_ABSENT = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="`*`: write only the first; else 412."
)
IF_CHANGED = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="Entity tags that the client has: for one of them, the answer is 304 without a body.",
)

# The window.
WINDOW = [
    _number("turns", "The newest exchanges to answer; by default as the policy says.", 1_000),
    _number("token_budget", "The most tokens that the messages may take; unlimited by default.", 10_000_000),
    _number(
        "max_tool_result_chars",
        "Where the result of a tool is cut off; by default as the policy says.",
        10_000_000,
    ),
]

# AEGIS.
ENVELOPE = OpenApiParameter("envelope", str, enum=["1"], description="`1`: the fields with their figures.")
FORMAT = OpenApiParameter(
    "format", str, enum=["text"], description="`text`: a block to put into a prompt, in place of JSON."
)
FIELDS = OpenApiParameter(
    "fields", str, many=True, description="The fields to delete, where the body names none; all by default."
)
