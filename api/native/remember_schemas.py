"""What `POST /api/v1/remember` accepts and answers."""

from typing import Any, get_args

from rest_framework import serializers

from api.fields import Id, Text, refuse_slash_at_end
from api.native.serializers import Strict
from recall.remember.extraction import Extractor
from recall.remember.types import Kind


class RememberBody(Strict):
    session_id = Id(validators=[refuse_slash_at_end], help_text="The conversation that the turn is of.")
    user_id = Id(required=False, allow_null=True, help_text="Needed unless the key or the query names one.")
    agent_id = Id(required=False, allow_null=True)
    user_message = Text(allow_blank=False)
    assistant_message = Text(required=False, allow_null=True)


class WrittenMemory(serializers.Serializer[Any]):
    """Something that was learned and is kept."""

    kind = serializers.ChoiceField(choices=get_args(Kind))
    id = serializers.UUIDField()
    key = serializers.CharField(required=False, help_text="Of an entity: its slot.")
    text = serializers.CharField(help_text="What is kept.")


class SkippedMemory(serializers.Serializer[Any]):
    """Something that was learned and is not kept."""

    text = serializers.CharField(help_text="Its beginning; what is sensitive is masked.")
    reason = serializers.CharField(help_text="As in /api/v1/write-decisions.")


class Remembered(serializers.Serializer[Any]):
    written = WrittenMemory(many=True)
    skipped = SkippedMemory(many=True)
    extractor = serializers.ChoiceField(choices=get_args(Extractor), help_text="Who found it.")
