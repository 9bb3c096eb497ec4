"""The shape of observations, for the OpenAPI document alone: the views make them."""

from typing import Any

from rest_framework import serializers


class Observation(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField()
    session_id = serializers.CharField(allow_null=True)
    scope = serializers.CharField()
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    topic_key = serializers.CharField(allow_null=True)
    revision_count = serializers.IntegerField(help_text="How often its topic was saved.")
    duplicate_count = serializers.IntegerField(help_text="How often it was said.")
    last_seen_at = serializers.DateTimeField(allow_null=True)
    promoted_to = serializers.CharField(allow_null=True)
    embedded = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    deleted_at = serializers.DateTimeField(allow_null=True, help_text="When it went to the trash.")


class ObservationPage(serializers.Serializer[Any]):
    results = Observation(many=True)
    next = serializers.CharField(allow_null=True)


class ObservationRevision(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="1 is what it said first.")
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    replaced_at = serializers.DateTimeField()
    replaced_by = serializers.CharField()


class ObservationRevisionPage(serializers.Serializer[Any]):
    results = ObservationRevision(many=True)
    next = serializers.CharField(allow_null=True)
