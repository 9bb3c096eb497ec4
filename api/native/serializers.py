"""What the native routes accept. Unknown fields are refused."""

import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import AnyJSON, Id, Moment, Text, refuse_slash_at_end
from episodic.models import MemoryType
from recall.kinds import KINDS
from recall.types import PROFILES
from screening.folding import HIDDEN

ROUTES = ("/turns", "/events", "/window", "/end", "/start", "/checkpoint")
RESERVED = ("stats", "cleanup")  # routes beside the sessions
ROLES = ("user", "assistant", "system", "tool")
BLANKS = "\u2800"  # drawn as nothing
MOST_AT_ONCE = 1_000
MOST_VERSIONS = 2**31 - 1
CLOCK_AHEAD = timedelta(minutes=5)  # that a client's clock may be


class Strict(serializers.Serializer[Any]):
    """Refuses fields it does not know: a misspelt option should not be ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := set(data) - set(self.fields)):
            raise serializers.ValidationError({str(name): ["Unknown field."] for name in sorted(unknown)})
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.DATETIME)
class Past(Moment):
    """When something happened: not later than now, but for clocks that differ."""

    def to_internal_value(self, value: Any) -> datetime:
        moment: datetime = super().to_internal_value(value)
        if moment > timezone.now() + CLOCK_AHEAD:
            raise serializers.ValidationError("May not lie more than 5 minutes in the future.")
        return moment


def refuse_route_at_end(session_id: str) -> None:
    """What ends like a route below a session could not be told from it."""
    if session_id.endswith(ROUTES):
        raise serializers.ValidationError(f"May not end in {', '.join(ROUTES)}.")
    if session_id in RESERVED:
        raise serializers.ValidationError(f"May not be {' or '.join(RESERVED)}.")


class NewSession(Strict):
    session_id = Id(required=False, validators=[refuse_slash_at_end, refuse_route_at_end])
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    project = Id(required=False, allow_null=True, max_length=200)
    namespace = Id(required=False, allow_null=True)
    metadata = serializers.DictField(child=AnyJSON(), required=False)


class NewTurn(Strict):
    id = Id(
        required=False,
        allow_null=True,
        help_text="The client's own; a turn whose id the session knows is not added again.",
    )
    role = serializers.ChoiceField(choices=ROLES)
    content = Text(required=True, allow_null=True, help_text="What was said; null beside `tool_calls`.")
    tool_calls = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    tool_call_id = Id(required=False, allow_null=True)
    name = Id(required=False, allow_null=True)
    created_at = Past(required=False, allow_null=True, help_text="When it was said; by default now.")
    metadata = serializers.DictField(child=AnyJSON(), required=False)


class AppendTurns(Strict):
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    turns = serializers.ListField(child=NewTurn(), allow_empty=False, max_length=MOST_AT_ONCE)


class NewEventBody(Strict):
    event_id = Id(
        required=False,
        allow_null=True,
        help_text="The client's own; an event whose id the session knows is not added again.",
    )
    event_type = Id(max_length=64)
    content = AnyJSON(required=True, help_text="Whatever such an event tells.")
    timestamp = Past(required=False, allow_null=True, help_text="When it happened; by default now.")
    metadata = serializers.DictField(child=AnyJSON(), required=False)


class NewEvents(Strict):
    events = serializers.ListField(child=NewEventBody(), allow_empty=False, max_length=MOST_AT_ONCE)


class NoFields(Strict):
    """An empty object."""


class EndSession(Strict):
    pass


class StartSession(Strict):
    user_id = Id(required=False, allow_null=True, help_text="Needed unless the key or the query names one.")
    agent_id = Id(required=False, allow_null=True)
    query = Text(
        required=False,
        allow_null=True,
        help_text="Chooses the episodes that are told; without it the newest are.",
    )


class CleanUp(Strict):
    max_age_hours = serializers.IntegerField(min_value=0, max_value=87_600)


def refuse_unseen(text: str) -> None:
    """Text of nothing but spaces, control and invisible characters tells nothing."""
    if not any(_is_seen(character) for character in text):
        raise serializers.ValidationError("May not be blank.")


def _is_seen(character: str) -> bool:
    return (
        unicodedata.category(character)[0] not in "ZC"
        and character not in BLANKS
        and (HIDDEN.match(character) is None)
    )


class NewEpisodeBody(Strict):
    text = Text(allow_blank=False, validators=[refuse_unseen], help_text="What is remembered, in words.")
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    session_id = Id(
        required=False,
        allow_null=True,
        validators=[refuse_slash_at_end],
        help_text="The session that it is of.",
    )
    memory_type = serializers.ChoiceField(choices=MemoryType.choices, required=False)
    topics = serializers.ListField(child=Id(), required=False, max_length=100)
    entities = serializers.ListField(child=Id(), required=False, max_length=100)
    outcome = Text(required=False, help_text="How it ended.")
    event_date = Moment(required=False, allow_null=True, help_text="When it happened.")
    valid_from = Moment(required=False, allow_null=True, help_text="Since when it holds; by default now.")
    covers_turns = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**53),
        required=False,
        allow_null=True,
        min_length=2,
        max_length=2,
        help_text="Numbers of the first and the last turn of the session that it tells of.",
    )
    metadata = serializers.DictField(child=AnyJSON(), required=False)

    def validate_covers_turns(self, value: list[int] | None) -> list[int] | None:
        if value is not None and value[0] > value[1]:
            raise serializers.ValidationError("The first turn comes before the last.")
        return value


class PolicyChange(Strict):
    agent_id = Id(required=False, allow_null=True)
    document = serializers.DictField(child=AnyJSON(), help_text="A merge patch of /api/v1/policy/schema.")
    version = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=MOST_VERSIONS)
    note = Text(required=False, max_length=500)


class PolicyRollback(Strict):
    agent_id = Id(required=False, allow_null=True)
    to = serializers.IntegerField(min_value=0, max_value=MOST_VERSIONS)
    version = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=MOST_VERSIONS)
    note = Text(required=False, max_length=500)


class Number(serializers.FloatField):
    """A number; text and booleans are none."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        try:
            return float(data)
        except OverflowError:
            self.fail("invalid")


@extend_schema_field({"oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "boolean"}]})
class Share(Number):
    """A share from 0 to 1; `true` for the usual one, `false` for all of it."""

    USUAL, ALL = 0.7, 1.0

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=1, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool):
            return self.USUAL if data else self.ALL
        return super().to_internal_value(data)


class RecallBody(Strict):
    query = Text(
        allow_blank=False, validators=[refuse_unseen], help_text="What is asked, or what somebody says now."
    )
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    session_id = Id(
        required=False,
        allow_null=True,
        validators=[refuse_slash_at_end],
        help_text="Only what this session left.",
    )
    project = Id(required=False, allow_null=True, max_length=200, help_text="Only of this project.")
    memory_type = serializers.ListField(
        child=serializers.ChoiceField(choices=MemoryType.choices),
        required=False,
        help_text="Only episodes of these kinds.",
    )
    topics = serializers.ListField(
        child=Id(), required=False, max_length=100, help_text="Only episodes with one of these topics."
    )
    since = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Only what happened from then on."
    )
    until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Only what happened until then."
    )
    as_of = Moment(required=False, allow_null=True, help_text="What held then; by default what holds now.")
    top_k = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=200,
        help_text="The most results; by default the policy's `recall.top_k`.",
    )
    alpha = Number(
        required=False,
        min_value=0,
        max_value=1,
        help_text="Instead of the policy's `recall.alpha`, in `fused`.",
    )
    decay = Number(
        required=False,
        min_value=0,
        max_value=10,
        help_text="Instead of the policy's `recall.decay`, in `fused`, `hybrid` and `keyword`.",
    )
    profile = serializers.ChoiceField(
        choices=PROFILES, required=False, help_text="Instead of the policy's `recall.profile`."
    )
    mode = serializers.ChoiceField(
        choices=("semantic", "keyword", "hybrid"), required=False, help_text="Another name of a profile."
    )
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=KINDS),
        required=False,
        min_length=1,
        help_text="Of memories; by default episodes.",
    )
    mmr = Share(
        required=False,
        allow_null=True,
        help_text="What relevance counts for against being unlike the other results, so that near-duplicates"
        " do not fill the answer; `true`: 0.7. By default relevance alone.",
    )
    count_access = serializers.BooleanField(
        required=False, help_text="Whether results count as accessed; by default they do."
    )
    explain = serializers.BooleanField(
        required=False, help_text="Tell of each result how its score came about."
    )
