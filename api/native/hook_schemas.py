"""What the hooks' routes accept and answer."""

from typing import Any, get_args

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text, refuse_slash_at_end
from api.native.serializers import Strict
from observations.types import Action, Method
from recall.hooks.rules import Reason

LONGEST_DURATION = 2**53  # milliseconds: what every JSON reader takes exactly


class ToolResultBody(Strict):
    agent = Id()
    session_id = Id(validators=[refuse_slash_at_end])
    user_id = Id(required=False, allow_null=True)
    tool = Id(max_length=200)
    args = serializers.DictField(child=AnyJSON(), allow_null=True)
    output = Text(required=False, allow_null=True)
    error = Text(required=False, allow_null=True, help_text="Why the tool came to no result.")
    duration_ms = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=LONGEST_DURATION
    )


class BeforeToolBody(Strict):
    agent = Id()
    session_id = Id(
        required=False,
        allow_null=True,
        validators=[refuse_slash_at_end],
        help_text="Whose log is to tell what was looked up.",
    )
    user_id = Id(required=False, allow_null=True)
    tool = Id(max_length=200)
    args = serializers.DictField(child=AnyJSON(), allow_null=True)


class SavedResult(serializers.Serializer[Any]):
    observation_id = serializers.IntegerField()
    action = serializers.ChoiceField(choices=get_args(Action))
    type = serializers.CharField()
    title = serializers.CharField()
    rule = serializers.IntegerField(
        allow_null=True, help_text="Its place among memorySaveRules, from 0; null for an audit."
    )


class SkippedRule(serializers.Serializer[Any]):
    rule = serializers.IntegerField(help_text="Its place among memorySaveRules, from 0.")
    tool = serializers.CharField()
    reason = serializers.ChoiceField(choices=get_args(Reason))


class RecordedResult(serializers.Serializer[Any]):
    saved = SavedResult(many=True)
    skipped = SkippedRule(many=True)


class FoundMemory(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = serializers.CharField()
    title = serializers.CharField()
    content = serializers.CharField(help_text="Cut to 300 characters and `...`.")
    rank = serializers.FloatField(help_text="The smaller the better.")
    method = serializers.ChoiceField(choices=get_args(Method))
    query = serializers.CharField(help_text="What found it.")


class LookedUp(serializers.Serializer[Any]):
    memories = FoundMemory(many=True)
