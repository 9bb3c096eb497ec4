"""Serializer fields that every dialect uses."""

from datetime import datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class Text(serializers.CharField):
    """Text kept to the letter; numbers and booleans are not text."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("allow_blank", True)
        super().__init__(trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class Id(Text):
    """An id: text that is not empty."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 255)
        super().__init__(allow_blank=False, **kwargs)


@extend_schema_field(OpenApiTypes.DATETIME)
class Moment(serializers.DateTimeField):
    """A moment that names its time zone: what was true when must not depend on the server's."""

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise serializers.ValidationError("Must name its time zone, such as Z.")
        return super().enforce_timezone(value)


def refuse_slash_at_end(session_id: str) -> None:
    """A slash at the end of a path belongs to the route, so a session's id may not end in one."""
    if session_id.endswith("/"):
        raise serializers.ValidationError("May not end in a slash.")


@extend_schema_field(OpenApiTypes.ANY)
class AnyJSON(serializers.Field):
    """Any JSON value, null included; the parser has bounded it already."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value
