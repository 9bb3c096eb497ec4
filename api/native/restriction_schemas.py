"""What the routes of a person's restriction and corrections accept, and the shape of their answers."""

from typing import Any

from rest_framework import serializers

from api.fields import Text
from api.native.serializers import Strict
from recall.subjects import KINDS
from tenants.restrictions import LONGEST_REASON

LONGEST_TEXT = 50_000
LONGEST_ID = 64


class Restrict(Strict):
    reason = Text(required=False, allow_blank=True, default="", max_length=LONGEST_REASON)


class Rectify(Strict):
    kind = serializers.ChoiceField(choices=KINDS)
    id = Text(max_length=LONGEST_ID)
    text = Text(
        max_length=LONGEST_TEXT,
        help_text="What is right: of an observation its content, of a slot its value.",
    )


class RestrictionState(serializers.Serializer[Any]):
    restricted = serializers.BooleanField()
    since = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    requested_by = serializers.CharField(allow_null=True)


class SubjectMemory(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=KINDS)
    id = serializers.CharField()
    text = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    session_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    is_pinned = serializers.BooleanField()
    status = serializers.CharField()
    key = serializers.CharField(allow_null=True, help_text="Of a slot.")
