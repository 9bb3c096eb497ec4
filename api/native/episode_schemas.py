"""What the routes of one episode accept, and the shape of their answers."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Moment, Text
from api.native.schemas import Episode
from api.native.serializers import Strict, refuse_unseen
from episodic.models import MemoryType


class EpisodeChange(Strict):
    """What is not given stays."""

    text = Text(required=False, allow_blank=False, validators=[refuse_unseen])
    topics = serializers.ListField(child=Id(), required=False, max_length=100)
    entities = serializers.ListField(child=Id(), required=False, max_length=100)
    outcome = Text(required=False)
    event_date = Moment(required=False, allow_null=True)
    metadata = serializers.DictField(child=AnyJSON(), required=False, help_text="In place of what was there.")
    agent_id = Text(required=False, max_length=255, help_text="Empty: no agent's.")
    project = Text(required=False, max_length=200, help_text="Empty: no project's.")
    memory_type = serializers.ChoiceField(
        choices=MemoryType.choices, required=False, help_text="A `message` remains one; nothing becomes one."
    )


class StoredEpisode(Episode):
    supersedes = serializers.ListField(
        child=serializers.UUIDField(), help_text="Those that hold no more because of it."
    )


class EpisodeRevision(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="1, 2, 3 …: the oldest is 1.")
    text = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    entities = serializers.ListField(child=serializers.CharField())
    outcome = serializers.CharField(allow_null=True)
    event_date = serializers.DateTimeField(allow_null=True)
    metadata = serializers.DictField(child=AnyJSON())
    replaced_at = serializers.DateTimeField()
    replaced_by = serializers.CharField()


class EpisodeRevisionPage(serializers.Serializer[Any]):
    results = EpisodeRevision(many=True)
    next = serializers.CharField(allow_null=True)
