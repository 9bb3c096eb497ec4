"""What the routes of feedback and of the injection log accept and answer."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from api.fields import Id, Text, refuse_slash_at_end
from api.native.serializers import Strict
from ledger.models import Feedback as FeedbackRow
from recall.feedback import KINDS

LONGEST_NOTE = 1_000  # characters


class FeedbackBody(Strict):
    injection_id = serializers.UUIDField(
        required=False, allow_null=True, help_text="What told the memory; or else its `kind` and `memory_id`."
    )
    kind = serializers.ChoiceField(choices=KINDS, required=False, allow_null=True)
    memory_id = Id(required=False, allow_null=True, max_length=64)
    session_id = Id(
        required=False,
        allow_null=True,
        validators=[refuse_slash_at_end],
        help_text="Where the memory was recalled; that of the injection, if one is named.",
    )
    verdict = serializers.ChoiceField(choices=FeedbackRow.Verdict.choices)
    note = Text(required=False, allow_null=True, max_length=LONGEST_NOTE)

    def validate(self, attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        given = {name for name in ("kind", "memory_id", "session_id") if attrs.get(name)}
        if attrs.get("injection_id"):
            if given:
                raise serializers.ValidationError({name: ["The injection tells it."] for name in given})
        elif lacking := {"kind", "memory_id"} - given:
            raise serializers.ValidationError(
                {name: ["Needed unless there is an injection_id."] for name in lacking}
            )
        return attrs


class Feedback(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    memory_id = serializers.CharField()
    injection_id = serializers.UUIDField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    verdict = serializers.ChoiceField(choices=FeedbackRow.Verdict.choices)
    note = serializers.CharField(allow_null=True)
    judge = serializers.CharField()
    created_at = serializers.DateTimeField(help_text="When the judge last said so.")


class FeedbackPage(serializers.Serializer[Any]):
    results = Feedback(many=True)
    next = serializers.CharField(allow_null=True)


class Injection(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    item_key = serializers.CharField()
    kind = serializers.CharField(help_text="What stands before the colon of the key.")
    value = serializers.CharField()
    session_id = serializers.CharField()
    namespace = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True, help_text="Its place among what was found; 1: best.")
    score = serializers.FloatField(allow_null=True, help_text="By which it was ranked.")
    why = serializers.CharField(allow_null=True, help_text="How it came to be told.")
    marked_at = serializers.DateTimeField()
    released_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when the session may be told it again; null: it counts."
    )


class InjectionPage(serializers.Serializer[Any]):
    results = Injection(many=True)
    next = serializers.CharField(allow_null=True)
