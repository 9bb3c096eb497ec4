"""What the route of assemblies accepts and answers."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text, refuse_slash_at_end
from api.native.schemas import RecallStage
from api.native.serializers import Strict, refuse_route_at_end
from recall.assembly.types import KINDS, LEDGER_STATES, PARTS, WHYS

MOST_TOKENS = 10_000_000
MOST_PROCEDURES = 20


class AssembleBody(Strict):
    session_id = Id(validators=[refuse_slash_at_end, refuse_route_at_end])
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    query = Text(allow_blank=False, help_text="What the user says now: the last message.")
    system = Text(required=False, allow_null=True, help_text="Your own system message: the first.")
    token_budget = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_TOKENS,
        help_text="`system`, `query` and the newest exchange stay even if they exceed it.",
    )
    dedupe = serializers.BooleanField(
        required=False, help_text="Leave out what the session was told, and which says the same; by default."
    )
    include = serializers.ListField(
        child=serializers.ChoiceField(choices=PARTS), required=False, help_text="By default all."
    )
    environment = Id(
        required=False, allow_null=True, max_length=64, help_text="Whose procedures; by default the server's."
    )
    procedures = serializers.ListField(
        child=Id(max_length=200),
        required=False,
        max_length=MOST_PROCEDURES,
        help_text="Names of procedures, beside those that are meant for the agent.",
    )


class AssembledItem(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=KINDS)
    id = serializers.CharField(
        allow_null=True, help_text="Null of the request's own messages, and of what was not looked at."
    )
    score = serializers.FloatField(allow_null=True)
    tokens = serializers.IntegerField(help_text="An estimate.")
    why = serializers.ChoiceField(choices=WHYS)
    ledger = serializers.ChoiceField(choices=LEDGER_STATES)
    included = serializers.BooleanField(help_text="Whether it is in the messages.")
    count = serializers.IntegerField(help_text="1; of slots beyond those that are told at once, how many.")


class Assembled(serializers.Serializer[Any]):
    messages = serializers.ListField(child=serializers.DictField(child=AnyJSON()))
    items = AssembledItem(many=True)
    tokens = serializers.IntegerField(help_text="Of all messages: an estimate.")
    stages = RecallStage(many=True)
    query_used = serializers.CharField(help_text="What episodes were searched for.")
