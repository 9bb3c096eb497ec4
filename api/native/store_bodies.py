"""What the routes of the store accept. Unknown fields are refused."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import AnyJSON, Id, Text
from api.native.serializers import Number, Strict
from episodic.item_text import is_path

MOST_LABELS = 20
LONGEST_NAMESPACE = 1_000  # characters, with a dot after each label
MOST_BYTES = 2_000  # of UTF-8, likewise: beside ids of 600 bytes it still fits into an index
LONGEST_KEY = 1_000
LONGEST_TTL = 52_560_000  # minutes: a hundred years
MOST_FIELDS = 100
MOST_VECTORS = 100
MOST_DIMENSIONS = 4_096
LARGEST_NUMBER = 1e15  # of a vector: the squares of so many of them still have a sum
MOST_FOUND = 1_000
MOST_OPERATIONS = 1_000
MOST_ASKED = 100_000  # results of all operations of one batch
USUAL_LIMITS = {"search": 10, "namespaces": 100}
FARTHEST = 1_000_000


def refuse_dot(label: str) -> None:
    """A dot stands between labels wherever a namespace is written as one text."""
    if "." in label:
        raise serializers.ValidationError("May not contain a dot.")


class Labels(serializers.ListField):
    """A namespace, or a part of one."""

    child = Id(validators=[refuse_dot])

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MOST_LABELS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        labels: list[str] = super().to_internal_value(data)
        if sum(map(len, labels)) + len(labels) > LONGEST_NAMESPACE:
            raise serializers.ValidationError(f"At most {LONGEST_NAMESPACE} characters in all.")
        if sum(len(one.encode()) for one in labels) + len(labels) > MOST_BYTES:
            raise serializers.ValidationError(f"At most {MOST_BYTES} bytes of UTF-8 in all.")
        return labels


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "number", "minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER},
        "minItems": 1,
        "maxItems": MOST_DIMENSIONS,
    }
)
class Vector(serializers.Field):
    """Numbers, checked all at once: a serializer for each would take longer than the search."""

    def to_internal_value(self, data: Any) -> tuple[float, ...]:
        if not isinstance(data, list) or not 1 <= len(data) <= MOST_DIMENSIONS:
            raise serializers.ValidationError(f"Must be 1 to {MOST_DIMENSIONS} numbers.")
        if any(type(one) not in (int, float) or abs(one) > LARGEST_NUMBER for one in data):
            raise serializers.ValidationError(f"Must be numbers, none beyond {LARGEST_NUMBER:g}.")
        return tuple(map(float, data))

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(
    {
        "oneOf": [
            {"type": "boolean", "enum": [False]},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": MOST_FIELDS},
        ],
        "nullable": True,
    }
)
class Index(serializers.Field):
    """Paths of fields; `false`: none; null: the whole value."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_internal_value(self, data: Any) -> tuple[str, ...]:
        if data is False:
            return ()
        if not isinstance(data, list) or len(data) > MOST_FIELDS:
            raise serializers.ValidationError(f"Must be false, null or up to {MOST_FIELDS} paths.")
        if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_KEY for one in data):
            raise serializers.ValidationError(f"Paths are texts of 1 to {LONGEST_KEY} characters.")
        if wrong := next((one for one in data if not is_path(one)), None):
            raise serializers.ValidationError(f"{wrong[:100]!r} is no path such as a.b, a[0], a[*].b or $.")
        return tuple(data)

    def to_representation(self, value: Any) -> Any:
        return value


class OfSomebody(Strict):
    user_id = Id(required=False, allow_null=True)
    agent_id = Id(required=False, allow_null=True)
    project = Id(required=False, allow_null=True, max_length=200)


class NamedItem(OfSomebody):
    namespace = Labels(allow_empty=False)
    key = Id(max_length=LONGEST_KEY)


class FieldVector(Strict):
    path = Id(max_length=LONGEST_KEY)
    vector = Vector()


class PutItem(NamedItem):
    value = serializers.DictField(child=AnyJSON())
    index = Index(
        required=False,
        help_text="Paths of the fields that it is found by, such as `a.b`, `a[*].b` or `$`; `false`: none; by"
        " default the whole value.",
    )
    ttl = Number(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=LONGEST_TTL,
        help_text="Minutes until it expires, after it was put or last read; by default never.",
    )
    vectors = serializers.ListField(
        child=FieldVector(),
        required=False,
        max_length=MOST_VECTORS,
        help_text="The client's own, of one length, for searches by such a `vector`.",
    )

    def validate_vectors(self, vectors: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({len(one["vector"]) for one in vectors}) > 1:
            raise serializers.ValidationError("All of one item have the same length.")
        return vectors


class GetItem(NamedItem):
    refresh_ttl = serializers.BooleanField(required=False)


class DeleteItem(NamedItem):
    pass


class SearchItems(OfSomebody):
    namespace_prefix = Labels(required=False, help_text="Labels that namespaces begin with; by default none.")
    query = Text(required=False, allow_null=True, help_text="Text to be near to; empty: none.")
    vector = Vector(
        required=False, allow_null=True, help_text="To be near to by the client's vectors instead."
    )
    distance = serializers.ChoiceField(choices=("cosine", "l2", "inner_product"), required=False)
    filter = serializers.DictField(
        child=AnyJSON(),
        required=False,
        allow_null=True,
        help_text="Fields of the value, each with what it equals, or with operators: `$eq`, `$ne`, `$gt`,"
        " `$gte`, `$lt`, `$lte`.",
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_FOUND)
    offset = serializers.IntegerField(required=False, min_value=0, max_value=FARTHEST)
    refresh_ttl = serializers.BooleanField(required=False)


class MatchCondition(Strict):
    match_type = serializers.ChoiceField(choices=("prefix", "suffix"))
    path = Labels()


class ListNamespaces(OfSomebody):
    match_conditions = serializers.ListField(
        child=MatchCondition(),
        required=False,
        allow_null=True,
        max_length=20,
        help_text="All of which a namespace meets; `*` stands for any one label.",
    )
    max_depth = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_LABELS,
        help_text="Labels that are shown.",
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_FOUND)
    offset = serializers.IntegerField(required=False, min_value=0, max_value=FARTHEST)


OPERATIONS: dict[str, Strict] = {
    "get": GetItem(),
    "put": PutItem(),
    "delete": DeleteItem(),
    "search": SearchItems(),
    "namespaces": ListNamespaces(),
}


@extend_schema_field(
    {
        "type": "object",
        "properties": {"op": {"type": "string", "enum": list(OPERATIONS)}},
        "required": ["op"],
        "description": "`op`, and the fields of that request.",
    }
)
class Operation(serializers.Field):
    """One operation: its name, and what the route of that name accepts."""

    def to_internal_value(self, data: Any) -> tuple[str, dict[str, Any]]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.")
        name = data.get("op")
        if not isinstance(name, str) or name not in OPERATIONS:
            raise serializers.ValidationError({"op": [f"Must be one of {', '.join(OPERATIONS)}."]})
        given = {field: value for field, value in data.items() if field != "op"}
        return name, dict(OPERATIONS[name].run_validation(given))

    def to_representation(self, value: Any) -> Any:
        return value


class Operations(Strict):
    operations = serializers.ListField(child=Operation(), max_length=MOST_OPERATIONS)

    def validate_operations(
        self, operations: list[tuple[str, dict[str, Any]]]
    ) -> list[tuple[str, dict[str, Any]]]:
        asked = sum(body.get("limit", USUAL_LIMITS.get(name, 0)) for name, body in operations)
        if asked > MOST_ASKED:
            raise serializers.ValidationError(f"Their limits add up to {asked}, more than {MOST_ASKED}.")
        return operations
