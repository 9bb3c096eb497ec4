"""The shape of the AEGIS answers, for the OpenAPI document alone: `answers.py` and the views make them."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON


class AboutConversation(serializers.Serializer[Any]):
    conversation_id = serializers.CharField()


class AegisEnvelope(AboutConversation):
    data = serializers.DictField(child=AnyJSON())  # type: ignore[assignment]
    size_bytes = serializers.IntegerField()
    ttl_seconds = serializers.IntegerField()


class AegisDeletedFields(AboutConversation):
    deleted = serializers.ListField(child=serializers.CharField())


class AegisDeleted(AboutConversation):
    deleted = serializers.IntegerField()


class AegisEpisode(AboutConversation):
    id = serializers.UUIDField()
    agent_id = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    summary = serializers.CharField()
    key_decisions = AnyJSON()
    entities_mentioned = AnyJSON()
    tools_called = AnyJSON()
    created_at = serializers.DateTimeField()


class AegisConversation(AboutConversation):
    memories = AegisEpisode(many=True)
    total = serializers.IntegerField()


class AegisHit(AboutConversation):
    id = serializers.UUIDField()
    summary = serializers.CharField()
    key_decisions = AnyJSON()
    entities_mentioned = AnyJSON()
    similarity = serializers.FloatField(min_value=-1, max_value=1)
    created_at = serializers.DateTimeField()


class AegisHits(serializers.Serializer[Any]):
    results = AegisHit(many=True)
    total = serializers.IntegerField()


class AboutItem(AboutConversation):
    item_key = serializers.CharField()


class LedgerChecked(AboutItem):
    injected = serializers.BooleanField()
    exists = serializers.BooleanField()
    value = serializers.CharField(allow_null=True)


class LedgerMarked(AboutItem):
    value = serializers.CharField()
    marked = serializers.BooleanField()
    created = serializers.BooleanField()


class LedgerClaimed(serializers.Serializer[Any]):
    claimed = serializers.BooleanField()


class LedgerEvicted(AboutItem):
    evicted = serializers.BooleanField()


FIELDS_OR_ENVELOPE = {
    "anyOf": [
        {"type": "object", "additionalProperties": {}, "description": "The fields."},
        {"$ref": "#/components/schemas/AegisEnvelope"},  # there since `PUT` answers it
    ]
}
LEDGER_ITEMS = {"type": "object", "additionalProperties": {"type": "string"}}

_LOC = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}
_INVALID = {"loc": _LOC, "msg": {"type": "string"}, "type": {"type": "string"}}
_DETAIL = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "array",
            "items": {"type": "object", "properties": _INVALID, "required": list(_INVALID)},
        },
    ]
}
ERROR = {"type": "object", "properties": {"detail": _DETAIL}, "required": ["detail"]}
