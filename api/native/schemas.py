"""The shape of the native answers, for the OpenAPI document alone: `answers.py` makes them."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON
from api.native.entity_schemas import Entity
from api.native.privacy_schemas import SignedReceipt
from api.native.serializers import ROLES
from episodic.models import MemoryType
from recall.kinds import KINDS
from recall.trials import VARIANTS
from tenants.models import JobState


class Session(serializers.Serializer[Any]):
    """A conversation, and how far it has come."""

    session_id = serializers.CharField()
    namespace = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    turn_count = serializers.IntegerField(help_text="Turns so far.")
    summary = serializers.CharField(allow_null=True, help_text="The running summary.")
    started_at = serializers.DateTimeField()
    last_activity_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Null: it goes on.")


class SessionPage(serializers.Serializer[Any]):
    results = Session(many=True)
    next = serializers.CharField(allow_null=True)


class Job(serializers.Serializer[Any]):
    """Work in the background."""

    id = serializers.UUIDField()
    kind = serializers.CharField()
    state = serializers.ChoiceField(choices=JobState.values)
    done = serializers.IntegerField(help_text="Of `total`.")
    total = serializers.IntegerField(allow_null=True)
    result = AnyJSON()
    error = serializers.CharField(allow_null=True, help_text="Why it failed.")
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
    receipt = SignedReceipt(allow_null=True, help_text="Once the erasure is done.")


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
    accepted = serializers.IntegerField(help_text="Turns that are new.")
    duplicates = serializers.IntegerField(help_text="Turns that the session knew.")
    turn_count = serializers.IntegerField(help_text="Turns of the session now.")
    summarised = serializers.BooleanField(help_text="Whether older turns went into the summary.")


class AppendedEvents(serializers.Serializer[Any]):
    accepted = serializers.IntegerField(help_text="Events that are new.")
    duplicates = serializers.IntegerField(help_text="Events that the session knew.")
    seq = serializers.ListField(child=serializers.IntegerField(), help_text="Their numbers in the log.")


class ToolParts(serializers.Serializer[Any]):
    tool_calls = serializers.ListField(child=serializers.DictField(), required=False)
    tool_call_id = serializers.CharField(required=False)
    name = serializers.CharField(required=False)


class Event(ToolParts):
    """An entry of a session's log: a turn, or anything else that happened."""

    event_id = serializers.CharField(allow_null=True)
    seq = serializers.IntegerField(help_text="Its number in the log.")
    event_type = serializers.CharField()
    role = serializers.CharField(allow_null=True, help_text="A turn's.")
    content = AnyJSON()
    metadata = serializers.DictField(child=AnyJSON())
    timestamp = serializers.DateTimeField()


class EventPage(serializers.Serializer[Any]):
    results = Event(many=True)
    next = serializers.CharField(allow_null=True)


class Message(ToolParts):
    """A turn as a chat API takes it."""

    role = serializers.ChoiceField(choices=ROLES)
    content = AnyJSON()


class Window(serializers.Serializer[Any]):
    """What a model is shown of a session."""

    messages = Message(many=True)
    summary = serializers.CharField(allow_null=True, help_text="The running summary.")
    truncated = serializers.BooleanField(help_text="Whether turns are left out.")
    tokens = serializers.IntegerField(help_text="Of all messages.")


class EndedSession(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    summary = serializers.CharField(allow_blank=True)
    episode_id = serializers.UUIDField(
        allow_null=True, help_text="The episode that became of it, if one did."
    )
    message_count = serializers.IntegerField()


class Episode(serializers.Serializer[Any]):
    """A memory in words, and how long it holds."""

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
    outcome = serializers.CharField(allow_null=True, help_text="How it ended.")
    key_decisions = AnyJSON()
    entities_mentioned = AnyJSON()
    tools_called = AnyJSON()
    covers_turns = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    event_date = serializers.DateTimeField(allow_null=True, help_text="When it happened.")
    metadata = serializers.DictField(child=AnyJSON())
    embedded = serializers.BooleanField(help_text="Whether its meaning is indexed yet.")
    valid_from = serializers.DateTimeField()
    valid_to = serializers.DateTimeField(allow_null=True, help_text="When it ceased to hold; null: it holds.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="The episode that holds instead.")
    pinned_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(allow_null=True)
    version = serializers.IntegerField(help_text="The entity tag.")


class ReadEpisode(Episode):
    last_accessed_at = serializers.DateTimeField(
        allow_null=True, help_text="When recall last told it; null: never."
    )
    access_count = serializers.IntegerField(help_text="How often, 15 minutes or more apart.")


class EpisodePage(serializers.Serializer[Any]):
    results = ReadEpisode(many=True)
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


class Spread(serializers.Serializer[Any]):
    relevance = serializers.FloatField(help_text="From 0 to 1, within the query.")
    likeness = serializers.FloatField(help_text="To the likest of those above it, from 0 to 1.")
    taken_off = serializers.FloatField(help_text="What that took off the relevance.")


class Explanation(serializers.Serializer[Any]):
    """How a score came about."""

    rank = serializers.IntegerField(help_text="From 1 on.")
    arm = serializers.CharField(help_text="Which search found it.")
    added = serializers.DictField(child=serializers.FloatField(), help_text="By each signal to the score.")
    model = serializers.CharField(help_text="Of the vectors.")
    formula = serializers.CharField(help_text="How the parts make the score.")
    variant = serializers.ChoiceField(
        choices=VARIANTS,
        allow_null=True,
        help_text="The setting of a trial that ranked; null: there is none.",
    )
    mmr = Spread(required=False, help_text="Only with `mmr`.")


class RecallHit(serializers.Serializer[Any]):
    """A memory that was recalled."""

    kind = serializers.ChoiceField(choices=KINDS)
    id = serializers.CharField()
    text = serializers.CharField(help_text="What is remembered.")
    score = serializers.FloatField(help_text="Comparable within its kind.")
    signals = serializers.DictField(child=serializers.FloatField())
    memory_type = serializers.ChoiceField(choices=MemoryType.choices, allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    event_date = serializers.DateTimeField(allow_null=True, help_text="When it happened.")
    covers_turns = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    created_at = serializers.DateTimeField()
    explain = Explanation(required=False)


class RecallStage(serializers.Serializer[Any]):
    """A step of a recall; what takes too long is left out, and the rest is answered."""

    name = serializers.CharField()
    ms = serializers.FloatField(help_text="Milliseconds that it took.")
    status = serializers.ChoiceField(choices=("ok", "skipped", "failed"))


class RecallAnswer(serializers.Serializer[Any]):
    results = RecallHit(many=True)
    stages = RecallStage(many=True)
    query_used = serializers.CharField(
        help_text="What was looked for: of a vague query, with what was said last."
    )


_FIELD = {name: {"type": "string"} for name in ("field", "message", "code")}
_PROBLEM = {
    "type": {"type": "string"},
    "title": {"type": "string"},
    "status": {"type": "integer"},
    "detail": {"type": "string"},
    "errors": {"type": "array", "items": {"type": "object", "properties": _FIELD, "required": list(_FIELD)}},
}
PROBLEM = {"type": "object", "properties": _PROBLEM, "required": list(_PROBLEM)}
