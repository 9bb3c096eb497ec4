"""The shape of procedures, for the OpenAPI document alone: the views make them."""

from typing import Any

from rest_framework import serializers


class DeployedProcedure(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    environment = serializers.CharField(
        allow_null=True, help_text="That runs it; null for a version that the environment does not run."
    )
    body = serializers.CharField()
    checksum = serializers.CharField(help_text="SHA-256 of the body, in hex.")
    agents = serializers.ListField(child=serializers.CharField(), help_text="Whom it is injected for.")
    metadata = serializers.DictField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    deployed_by = serializers.CharField(allow_null=True)
    deployed_at = serializers.DateTimeField(allow_null=True)


class ProcedurePage(serializers.Serializer[Any]):
    results = DeployedProcedure(many=True)
    next = serializers.CharField(allow_null=True)
