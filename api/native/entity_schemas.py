"""What the routes of slots accept, and the shape of their answers."""

from datetime import datetime
from typing import Any, NoReturn

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import AnyJSON, Id
from api.native.serializers import Strict
from episodic.models import SlotStatus

LAST_TURN = 2**63 - 1


@extend_schema_field({"type": "number", "minimum": 0, "maximum": 1})
class Share(serializers.Field[float, Any, float, Any]):
    """A number from 0 to 1; neither text nor a boolean is one."""

    default_error_messages = {"invalid": "Must be a number from 0 to 1."}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data <= 1:
            self.fail("invalid")
        return float(data)

    def to_representation(self, value: float) -> float:
        return value


@extend_schema_field(OpenApiTypes.DATETIME)
class Moment(serializers.DateTimeField):
    """A moment that says its time zone: what is believed of somebody must not depend on the server's."""

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            _refuse_naive()
        return super().enforce_timezone(value)


def _refuse_naive() -> NoReturn:
    raise serializers.ValidationError("Must name its time zone.")


class EntityBody(Strict):
    value = AnyJSON(required=True)
    confidence = Share(required=False, help_text="How sure it is, from 0 to 1.")
    source = Id(  # type: ignore[assignment]  # a name that the stubs keep for themselves
        required=False, max_length=64, help_text="Who says so; `api` by default."
    )
    agent_id = Id(required=False, allow_null=True)
    source_session = Id(required=False, allow_null=True)
    source_turn = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=LAST_TURN)
    valid_from = Moment(required=False, allow_null=True, help_text="Since when it holds; by default now.")


class Entity(serializers.Serializer[Any]):
    """What a slot of a user holds, or held."""

    id = serializers.UUIDField()
    user_id = serializers.CharField()
    key = serializers.CharField()
    value = AnyJSON()
    confidence = serializers.FloatField(help_text="How sure it is, from 0 to 1.")
    status = serializers.ChoiceField(choices=SlotStatus.choices)
    valid_from = serializers.DateTimeField()
    valid_to = serializers.DateTimeField(allow_null=True, help_text="Null: it holds, or waits.")
    superseded_by = serializers.UUIDField(allow_null=True)
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    source_session = serializers.CharField(allow_null=True)
    source_turn = serializers.IntegerField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    pinned = serializers.BooleanField()
    embedded = serializers.BooleanField(help_text="Whether its meaning is indexed yet.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class FoundEntity(Entity):
    score = serializers.FloatField(required=False, help_text="Likeness to `query`, where one is given.")


class EntityPage(serializers.Serializer[Any]):
    results = FoundEntity(many=True)
    next = serializers.CharField(allow_null=True)


class EntityHistoryPage(serializers.Serializer[Any]):
    results = Entity(many=True)
    next = serializers.CharField(allow_null=True)
