"""The shape of the answers, for the OpenAPI document alone: `answers.py` and the views make them."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from api import parameters
from api.fields import AnyJSON

X_AGENT = OpenApiParameter(
    "X-Agent",
    parameters.LONGEST,
    OpenApiParameter.HEADER,
    description="Whose memory, percent-encoded; by default that of the key's agent, else of all agents in"
    " its reach.",
)
LIMIT = OpenApiParameter(
    "limit", int, description="The newest so many; 0, and all above 1000, stand for 1000.", default=100
)
NARROW = [X_AGENT, parameters.USER, parameters.NAMESPACE]
OF_SESSION = [
    X_AGENT,
    parameters.SESSION[0],
    parameters.NAMESPACE,
]
NEW_SESSION = [X_AGENT, *parameters.USER_OR_NAMESPACE]
MAX_EVENTS = OpenApiParameter(
    "max_events",
    {"type": "integer", "minimum": 1},
    description="The last so many messages; by default as many as the agent's `contextLimit`.",
)


class KaosEvent(serializers.Serializer[Any]):
    event_id = serializers.CharField()
    timestamp = serializers.CharField()
    event_type = serializers.CharField()
    content = AnyJSON()
    metadata = serializers.DictField(child=AnyJSON())
    id = serializers.CharField(help_text="The same as `event_id`.")
    type = serializers.CharField(help_text="The same as `event_type`.")
    role = serializers.CharField(allow_null=True, help_text="Of what somebody said: `user`, `assistant` …")
    session_id = serializers.CharField()


class KaosEvents(serializers.Serializer[Any]):
    agent = serializers.CharField()
    events = KaosEvent(many=True)
    total = serializers.IntegerField(help_text="How many are in this answer.")


class KaosSessions(serializers.Serializer[Any]):
    agent = serializers.CharField()
    sessions = serializers.ListField(child=serializers.CharField())
    total = serializers.IntegerField()


class KaosSession(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    user_id = serializers.CharField(allow_blank=True)
    app_name = serializers.CharField(allow_blank=True)
    events = KaosEvent(many=True)
    created_at = serializers.CharField()
    updated_at = serializers.CharField()


class KaosBegun(serializers.Serializer[Any]):
    session_id = serializers.CharField()


class KaosDeleted(serializers.Serializer[Any]):
    deleted = serializers.BooleanField()


class KaosAdded(serializers.Serializer[Any]):
    added = serializers.BooleanField(help_text="False: the memory does not know the session.")


class KaosContext(serializers.Serializer[Any]):
    context = serializers.CharField(allow_blank=True)  # type: ignore[assignment]


class KaosStats(serializers.Serializer[Any]):
    total_sessions = serializers.IntegerField()
    total_events = serializers.IntegerField()
    avg_events_per_session = serializers.IntegerField()


class KaosCleaned(serializers.Serializer[Any]):
    removed = serializers.IntegerField()


_STEP = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
_INVALID = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "loc": {"type": "array", "items": _STEP},
        "msg": {"type": "string"},
        "input": {"nullable": True},
        "ctx": {"type": "object", "additionalProperties": {}},
    },
    "required": ["type", "loc", "msg", "input"],
}
ERROR = {
    "type": "object",
    "properties": {"detail": {"oneOf": [{"type": "string"}, {"type": "array", "items": _INVALID}]}},
    "required": ["detail"],
}
