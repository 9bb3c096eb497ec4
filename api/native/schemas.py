"""The shape of the native answers, for the OpenAPI document alone: `answers.py` makes them."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON
from api.native.serializers import ROLES
from episodic.models import MemoryType


class Session(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    namespace = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    turn_count = serializers.IntegerField()
    summary = serializers.CharField(allow_null=True)
    started_at = serializers.DateTimeField()
    last_activity_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class SessionPage(serializers.Serializer[Any]):
    results = Session(many=True)
    next = serializers.CharField(allow_null=True)


class AppendedTurns(serializers.Serializer[Any]):
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    turn_count = serializers.IntegerField()
    summarised = serializers.BooleanField()


class AppendedEvents(serializers.Serializer[Any]):
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    seq = serializers.ListField(child=serializers.IntegerField())


class ToolParts(serializers.Serializer[Any]):
    tool_calls = serializers.ListField(child=serializers.DictField(), required=False)
    tool_call_id = serializers.CharField(required=False)
    name = serializers.CharField(required=False)


class Event(ToolParts):
    event_id = serializers.CharField(allow_null=True)
    seq = serializers.IntegerField()
    event_type = serializers.CharField()
    role = serializers.CharField(allow_null=True)
    content = AnyJSON()
    metadata = serializers.DictField(child=AnyJSON())
    timestamp = serializers.DateTimeField()


class EventPage(serializers.Serializer[Any]):
    results = Event(many=True)
    next = serializers.CharField(allow_null=True)


class Message(ToolParts):
    role = serializers.ChoiceField(choices=ROLES)
    content = AnyJSON()


class Window(serializers.Serializer[Any]):
    messages = Message(many=True)
    summary = serializers.CharField(allow_null=True)
    truncated = serializers.BooleanField()
    tokens = serializers.IntegerField()


class EndedSession(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    summary = serializers.CharField(allow_blank=True)
    episode_id = serializers.UUIDField(allow_null=True)
    message_count = serializers.IntegerField()


class Episode(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    text = serializers.CharField()
    memory_type = serializers.ChoiceField(choices=MemoryType.choices)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    namespace = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    entities = serializers.ListField(child=serializers.CharField())
    outcome = serializers.CharField(allow_null=True)
    key_decisions = AnyJSON()
    entities_mentioned = AnyJSON()
    tools_called = AnyJSON()
    covers_turns = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    event_date = serializers.DateTimeField(allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    embedded = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class EpisodePage(serializers.Serializer[Any]):
    results = Episode(many=True)
    next = serializers.CharField(allow_null=True)


class Explanation(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    arm = serializers.CharField()
    exact = serializers.BooleanField()
    model = serializers.CharField()
    formula = serializers.CharField()


class RecallHit(serializers.Serializer[Any]):
    kind = serializers.CharField()
    id = serializers.UUIDField()
    text = serializers.CharField()
    score = serializers.FloatField()
    signals = serializers.DictField(child=serializers.FloatField())
    memory_type = serializers.ChoiceField(choices=MemoryType.choices)
    session_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    event_date = serializers.DateTimeField(allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    created_at = serializers.DateTimeField()
    explain = Explanation(required=False)


class RecallStage(serializers.Serializer[Any]):
    name = serializers.CharField()
    ms = serializers.FloatField()
    status = serializers.ChoiceField(choices=("ok", "skipped", "failed"))


class RecallAnswer(serializers.Serializer[Any]):
    results = RecallHit(many=True)
    stages = RecallStage(many=True)
    query_used = serializers.CharField()


_FIELD = {name: {"type": "string"} for name in ("field", "message", "code")}
_PROBLEM = {
    "type": {"type": "string"},
    "title": {"type": "string"},
    "status": {"type": "integer"},
    "detail": {"type": "string"},
    "errors": {"type": "array", "items": {"type": "object", "properties": _FIELD, "required": list(_FIELD)}},
}
PROBLEM = {"type": "object", "properties": _PROBLEM, "required": list(_PROBLEM)}
