"""What the routes of the evaluation set and of trials accept and answer."""

from typing import Any

from rest_framework import serializers

from api.fields import Id, Text, refuse_slash_at_end
from api.native.serializers import Strict
from ledger.cases import LONGEST_TEXT, MOST_RELEVANT
from ledger.models import EvaluationQuery


def _relevant(*, required: bool) -> Any:
    return serializers.ListField(
        child=serializers.UUIDField(),
        required=required,
        max_length=MOST_RELEVANT,
        help_text="Ids of the episodes that answer it; none: it is unlabelled.",
    )


class NewSavedQuery(Strict):
    text = Text(required=True, max_length=LONGEST_TEXT)
    user_id = Id(required=False, allow_null=True, help_text="Whose memories are asked for.")
    agent_id = Id(required=False, allow_null=True, help_text="Whose, if there is no user.")
    session_id = Id(required=False, allow_null=True, validators=[refuse_slash_at_end])
    relevant = _relevant(required=False)

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("May not be blank.")
        return text


class Labels(Strict):
    relevant = _relevant(required=True)


class SavedQuery(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    text = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    session_id = serializers.CharField(allow_null=True)
    relevant = serializers.ListField(child=serializers.UUIDField())
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a name that the stubs keep
        choices=EvaluationQuery.Source.choices
    )
    created_at = serializers.DateTimeField()


class SavedQueryPage(serializers.Serializer[Any]):
    results = SavedQuery(many=True)
    next = serializers.CharField(allow_null=True)


def _interval() -> Any:
    return serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, help_text="95 %."
    )


class Arm(serializers.Serializer[Any]):
    sessions = serializers.IntegerField(help_text="That were told something that it recalled.")
    injections = serializers.IntegerField()
    verdicts = serializers.IntegerField()
    helpful = serializers.IntegerField()
    helpful_rate = serializers.FloatField(allow_null=True)
    ci95 = _interval()


class Arms(serializers.Serializer[Any]):
    control = Arm(help_text="By `recall`.")
    treatment = Arm(help_text="By `trial`.")


class Difference(serializers.Serializer[Any]):
    helpful_rate = serializers.FloatField()
    ci95 = _interval()


class Trial(serializers.Serializer[Any]):
    share = serializers.FloatField(help_text="Of the sessions; 0: there is no trial.")
    setting = serializers.DictField(help_text="What the second setting says of its own.")
    version = serializers.IntegerField(help_text="Of the policy, which began it.")
    since = serializers.DateTimeField(allow_null=True)
    variants = Arms()
    difference = Difference(allow_null=True, help_text="Of the treatment to the control.")
