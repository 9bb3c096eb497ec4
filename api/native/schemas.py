"""The shape of the native answers, for the OpenAPI document alone: `answers.py` makes them."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON
from api.native.entity_schemas import Entity
from api.native.serializers import ROLES
from episodic.models import MemoryType
from recall.kinds import KINDS
from tenants.models import JobState


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


class Job(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    state = serializers.ChoiceField(choices=JobState.values)
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    result = AnyJSON()
    error = serializers.CharField(allow_null=True)
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class JobPage(serializers.Serializer[Any]):
    results = Job(many=True)
    next = serializers.CharField(allow_null=True)


class Receipt(serializers.Serializer[Any]):
    erased_at = serializers.DateTimeField(help_text="What came in until then was erased.")
    completed_at = serializers.DateTimeField(allow_null=True)
    requested_by = serializers.CharField()
    erased = serializers.DictField(child=serializers.IntegerField(), help_text="Rows or keys, by store.")
    residue = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="Rows or keys that were left, by place."
    )
    seconds = serializers.FloatField(allow_null=True)


class ReceiptPage(serializers.Serializer[Any]):
    results = Receipt(many=True)
    next = serializers.CharField(allow_null=True)


class Policy(serializers.Serializer[Any]):
    agent_id = serializers.CharField(allow_null=True)
    version = serializers.IntegerField()
    document = serializers.DictField(child=AnyJSON(), help_text="What this level decides for itself.")
    effective = serializers.DictField(child=AnyJSON(), help_text="What holds.")
    defaults = serializers.DictField(child=AnyJSON(), help_text="What would hold without this level.")


class PolicyVersion(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    document = serializers.DictField(child=AnyJSON())
    author = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class PolicyVersionPage(serializers.Serializer[Any]):
    results = PolicyVersion(many=True)
    next = serializers.CharField(allow_null=True)


class PolicyDifference(serializers.Serializer[Any]):
    field = serializers.CharField()
    before = AnyJSON()
    after = AnyJSON()


class PolicyDiff(serializers.Serializer[Any]):
    from_version = serializers.IntegerField()
    to_version = serializers.IntegerField()
    changes = PolicyDifference(many=True)


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
    valid_from = serializers.DateTimeField()
    valid_to = serializers.DateTimeField(allow_null=True, help_text="When it ceased to hold; null: it holds.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="The episode that holds instead.")
    pinned_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(allow_null=True)
    version = serializers.IntegerField(help_text="The entity tag.")


class EpisodePage(serializers.Serializer[Any]):
    results = Episode(many=True)
    next = serializers.CharField(allow_null=True)


class StartEpisode(Episode):
    score = serializers.FloatField(allow_null=True, help_text="For `query`; null for one of the newest.")


class StartProcedure(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    body = serializers.CharField()


class StartedSession(serializers.Serializer[Any]):
    session = Session()
    entities = Entity(many=True)
    entities_left_out = serializers.IntegerField(help_text="Slots that hold beside those.")
    episodes = StartEpisode(many=True)
    procedures = StartProcedure(many=True)


class WrittenCheckpoint(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    updated_at = serializers.DateTimeField()


class SessionStats(serializers.Serializer[Any]):
    total_sessions = serializers.IntegerField()
    total_events = serializers.IntegerField()
    avg_events_per_session = serializers.IntegerField()


class CleanedUp(serializers.Serializer[Any]):
    removed = serializers.IntegerField()


class Explanation(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    arm = serializers.CharField()
    added = serializers.DictField(child=serializers.FloatField(), help_text="By each signal to the score.")
    exact = serializers.BooleanField()
    model = serializers.CharField()
    formula = serializers.CharField()


class RecallHit(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=KINDS)
    id = serializers.CharField()
    text = serializers.CharField()
    score = serializers.FloatField()
    signals = serializers.DictField(child=serializers.FloatField())
    memory_type = serializers.ChoiceField(choices=MemoryType.choices, allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    event_date = serializers.DateTimeField(allow_null=True)
    covers_turns = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
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
