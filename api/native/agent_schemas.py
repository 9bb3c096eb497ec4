"""The shape of agents, for the OpenAPI document alone: `tenants/agents/spec.py` does the checking."""

from typing import Any

from rest_framework import serializers

from tenants.agents.spec import FROM_TOOL_ARGS


class Memory(serializers.Serializer[Any]):
    serverRef = serializers.CharField(required=False, max_length=255)
    project = serializers.CharField(
        required=False, max_length=200, help_text="By default the agent's name; case does not matter."
    )
    contextLimit = serializers.IntegerField(required=False, min_value=0, max_value=50, default=5)
    windowSize = serializers.IntegerField(required=False, min_value=2, max_value=200)
    autoSummarize = serializers.BooleanField(required=False, default=True)
    autoSave = serializers.BooleanField(required=False, default=True)
    autoSearch = serializers.BooleanField(required=False, default=True)


class MemorySaveRule(serializers.Serializer[Any]):
    tool = serializers.CharField(max_length=200)
    matchOutput = serializers.CharField(required=False, max_length=1_000, help_text="An RE2 pattern.")
    matchArgs = serializers.DictField(
        required=False, child=serializers.CharField(max_length=1_000), help_text="RE2 patterns by argument."
    )
    type = serializers.CharField(required=False, max_length=50, default="discovery")
    scope = serializers.ChoiceField(required=False, choices=["project", "global"], default="project")


class ContextInjectTool(serializers.Serializer[Any]):
    tool = serializers.CharField(max_length=200)
    query = serializers.CharField(required=False, max_length=500, default=FROM_TOOL_ARGS)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=10, default=3)


class ToolHooks(serializers.Serializer[Any]):
    blockedCommands = serializers.ListField(required=False, child=serializers.CharField(max_length=1_000))
    allowedPaths = serializers.ListField(required=False, child=serializers.CharField(max_length=1_000))
    auditTools = serializers.ListField(required=False, child=serializers.CharField(max_length=200))
    memorySaveRules = MemorySaveRule(many=True, required=False)
    contextInjectTools = ContextInjectTool(many=True, required=False)


class KaosMemory(serializers.Serializer[Any]):
    enabled = serializers.BooleanField(required=False, default=True)
    type = serializers.ChoiceField(required=False, choices=["local", "redis"], default="local")
    contextLimit = serializers.IntegerField(required=False, min_value=1, max_value=100, default=6)
    maxSessions = serializers.IntegerField(required=False, min_value=1, max_value=100_000, default=1_000)
    maxSessionEvents = serializers.IntegerField(required=False, min_value=1, max_value=10_000, default=500)


class AgentDocument(serializers.Serializer[Any]):
    """What is declared; a Kubernetes resource (`apiVersion`, `kind`, `metadata`, `spec`) has the same blocks
    in its `spec`, KAOS's as `config.memory`."""

    memory = Memory(required=False)
    toolHooks = ToolHooks(required=False)
    kaos = KaosMemory(required=False)


class DeclaredAgent(serializers.Serializer[Any]):
    name = serializers.CharField()
    spec = AgentDocument()
    version = serializers.IntegerField(help_text="Counts its changes.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class DeclaredAgentPage(serializers.Serializer[Any]):
    results = DeclaredAgent(many=True)
    next = serializers.CharField(allow_null=True)
