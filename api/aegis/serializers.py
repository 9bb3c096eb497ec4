"""What the AEGIS routes accept. Unknown fields are ignored, as the original does."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text, refuse_slash_at_end

LONGEST_ID = 100


class PutWorkingMemory(serializers.Serializer[Any]):
    data = serializers.DictField(child=AnyJSON())  # type: ignore[assignment]
    ttl_seconds = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**31)


class DeleteFields(serializers.Serializer[Any]):
    fields = serializers.ListField(child=Text(), required=False, allow_null=True)  # type: ignore[assignment]


class LedgerItem(serializers.Serializer[Any]):
    item_key = Id(max_length=512)


class LedgerMark(LedgerItem):
    value = Text(required=False, default="1", max_length=65_536)


class StoreEpisode(serializers.Serializer[Any]):
    agent_id = Id(max_length=LONGEST_ID)
    conversation_id = Id(max_length=LONGEST_ID, validators=[refuse_slash_at_end])
    summary = Text(allow_blank=False)
    user_id = Id(max_length=LONGEST_ID, required=False, allow_null=True)
    key_decisions = AnyJSON(required=False)
    entities_mentioned = AnyJSON(required=False)
    tools_called = AnyJSON(required=False)


class SearchEpisodes(serializers.Serializer[Any]):
    query = Text(allow_blank=False)
    agent_id = Id(max_length=LONGEST_ID)
    user_id = Id(max_length=LONGEST_ID, required=False, allow_null=True)
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=100)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=100)
    k = serializers.IntegerField(required=False, min_value=1, max_value=100)
