"""The shape of the AgentOps bodies and answers, for the OpenAPI document alone: `reading.py` reads them and
`answers.py` makes them."""

from typing import Any

from rest_framework import serializers


class AgentOpsNewSession(serializers.Serializer[Any]):
    id = serializers.CharField(max_length=255)
    project = serializers.CharField(
        required=False, max_length=200, help_text="Not needed with a key that is bound to one."
    )


class AgentOpsSession(serializers.Serializer[Any]):
    id = serializers.CharField()
    project = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(required=False)
    summary = serializers.CharField(required=False, allow_blank=True)
    message_count = serializers.IntegerField()


class AgentOpsMessage(serializers.Serializer[Any]):
    role = serializers.CharField()
    content = serializers.CharField()


class AgentOpsTranscript(serializers.Serializer[Any]):
    messages = AgentOpsMessage(many=True, required=False)


class AgentOpsEndedSession(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    summary = serializers.CharField(allow_blank=True)
    message_count = serializers.IntegerField()


class AgentOpsChanges(serializers.Serializer[Any]):
    type = serializers.CharField(required=False, max_length=50)
    title = serializers.CharField(required=False, max_length=500)
    content = serializers.CharField(required=False, max_length=50_000)
    tags = serializers.ListField(required=False, child=serializers.CharField(max_length=100), max_length=20)


class AgentOpsNewObservation(serializers.Serializer[Any]):
    """Lengths are in bytes of UTF-8."""

    session_id = serializers.CharField(max_length=255)
    type = serializers.CharField(max_length=50)
    title = serializers.CharField(max_length=500)
    content = serializers.CharField(max_length=50_000)
    project = serializers.CharField(
        required=False, max_length=200, help_text="Not needed with a key that is bound to one."
    )
    scope = serializers.CharField(required=False, max_length=50, default="project")
    topic_key = serializers.CharField(required=False, max_length=200)
    tags = serializers.ListField(required=False, child=serializers.CharField(max_length=100), max_length=20)


class AgentOpsSaved(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    action = serializers.ChoiceField(choices=("created", "updated", "deduplicated"))
    revision_count = serializers.IntegerField()
    duplicate_count = serializers.IntegerField()


class AgentOpsObservation(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    session_id = serializers.CharField()
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    project = serializers.CharField()
    scope = serializers.CharField()
    topic_key = serializers.CharField(required=False)
    normalized_hash = serializers.CharField(required=False)
    revision_count = serializers.IntegerField()
    duplicate_count = serializers.IntegerField()
    last_seen_at = serializers.DateTimeField(required=False)
    promoted_to = serializers.CharField(required=False)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class AgentOpsHit(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    rank = serializers.FloatField(help_text="The smaller the better.")
    topic_key = serializers.CharField(required=False)


class AgentOpsToldSession(serializers.Serializer[Any]):
    summary = serializers.CharField()
    session_id = serializers.CharField()


class AgentOpsToldObservation(serializers.Serializer[Any]):
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField(help_text="Cut off at 300 characters.")
    id = serializers.IntegerField()
    rank = serializers.FloatField()
    method = serializers.ChoiceField(choices=("topic_key", "bm25", "hybrid", "recency"))


class AgentOpsContext(serializers.Serializer[Any]):
    recent_sessions = AgentOpsToldSession(many=True)
    recent_observations = AgentOpsToldObservation(many=True)


class AgentOpsNeighbour(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    created_at = serializers.DateTimeField()


class AgentOpsStats(serializers.Serializer[Any]):
    total_sessions = serializers.IntegerField()
    total_observations = serializers.IntegerField()
    projects = serializers.ListField(child=serializers.CharField())


class AgentOpsExportedSession(AgentOpsSession):
    user_id = serializers.CharField(required=False)
    agent_id = serializers.CharField(required=False)
    namespace = serializers.CharField(required=False)


class AgentOpsExportedObservation(AgentOpsObservation):
    user_id = serializers.CharField(required=False)
    agent_id = serializers.CharField(required=False)


class AgentOpsExport(serializers.Serializer[Any]):
    exported_at = serializers.DateTimeField()
    sessions = AgentOpsExportedSession(many=True)
    observations = AgentOpsExportedObservation(many=True)


class AgentOpsImported(serializers.Serializer[Any]):
    imported_sessions = serializers.IntegerField()
    imported_observations = serializers.IntegerField()


class AgentOpsDeleted(serializers.Serializer[Any]):
    ok = serializers.BooleanField()


ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
