"""The shape of write decisions, for the OpenAPI document."""

from typing import Any

from rest_framework import serializers

from ledger.models import WriteDecision


class Decision(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.CharField(help_text="What it would have been: entity, episode, summary.")
    key = serializers.CharField(allow_null=True, help_text="Of an entity: its slot.")
    outcome = serializers.ChoiceField(choices=WriteDecision.Outcome.choices)
    reason = serializers.CharField()
    findings = serializers.ListField(
        child=serializers.CharField(), help_text="What was found, such as `card:number`."
    )
    text = serializers.CharField(allow_blank=True, help_text="The beginning, with what is sensitive masked.")
    confidence = serializers.FloatField(allow_null=True)
    confirmable = serializers.BooleanField(help_text="Whether it can still be written.")
    memory_id = serializers.CharField(allow_null=True, help_text="What it became once confirmed.")
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class DecisionPage(serializers.Serializer[Any]):
    results = Decision(many=True)
    next = serializers.CharField(allow_null=True)
