"""What the KAOS routes accept. Unknown fields are ignored."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text, refuse_slash_at_end

ROUTES = ("/events", "/context")
MOST_AT_ONCE = 1_000
MOST_HOURS = 876_000  # a hundred years


def refuse_route_at_end(session_id: str) -> None:
    """What ends like a route below a session could not be told from it."""
    if session_id.endswith(ROUTES):
        raise serializers.ValidationError(f"May not end in {' or '.join(ROUTES)}.")


class KaosNewSession(serializers.Serializer[Any]):
    app_name = Text(max_length=255, help_text="The agent, where neither the key nor `X-Agent` names one.")
    user_id = Text(max_length=255)
    session_id = Text(
        required=False,
        allow_null=True,
        max_length=255,
        validators=[refuse_slash_at_end, refuse_route_at_end],
        help_text="By default, the server makes one.",
    )
    create = serializers.ChoiceField(  # type: ignore[assignment]  # a serializer has a method of this name
        choices=["always", "if_missing"],
        default="always",
        help_text="`always`: an empty session, in the place of one that is there. `if_missing`: that one.",
    )


class KaosNewEvent(serializers.Serializer[Any]):
    event_id = Id(required=False, allow_null=True)
    event_type = Id(max_length=64)
    content = AnyJSON(required=True)
    timestamp = serializers.DateTimeField(
        required=False, allow_null=True, help_text="In UTC, where it names no time zone."
    )
    metadata = serializers.DictField(child=AnyJSON(), required=False, allow_null=True)


class KaosNewEvents(serializers.Serializer[Any]):
    events = serializers.ListField(child=KaosNewEvent(), allow_empty=False, max_length=MOST_AT_ONCE)


class KaosCleanUp(serializers.Serializer[Any]):
    max_age_hours = serializers.FloatField(default=24, min_value=0, max_value=MOST_HOURS)
