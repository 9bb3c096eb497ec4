"""Tests of single fields of an episode, and their SQL. Pure.

A field without a value holds the empty string, an empty list, or no moment. `ne` and `none` are met by such
an episode, as by any that has another value, and `eq` only where it asks for the empty string. Of a list
(topics, entities), `eq`, `any`, `all` and `startswith` ask for its items, `ne` and `none` for their absence.
An empty `any` is met by nothing, an empty `all` or `none` by everything. What was never recalled was last
accessed when it was written, and what came of no strategy counts as `discrete`: so such episodes are shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from tenants.errors import Invalid

Field = Literal[
    "session_id", "namespace", "user_id", "topics", "entities", "memory_type", "extraction_strategy",
    "created_at", "last_accessed", "event_date", "record",
]  # fmt: skip
Operator = Literal["eq", "ne", "any", "none", "all", "startswith", "gt", "lt", "gte", "lte"]
Value = str | tuple[str, ...] | datetime

LISTS = frozenset({"topics", "entities"})
MOMENTS = frozenset({"created_at", "last_accessed", "event_date"})
OF_MOMENTS = frozenset({"eq", "ne", "gt", "lt", "gte", "lte"})
OF_TEXTS = frozenset({"eq", "ne", "any", "none", "all", "startswith"})
SEVERAL = frozenset({"any", "none", "all"})

# What each field reads. The table is named, as its rows may be read beside others.
COLUMNS: dict[str, str] = {
    "session_id": "session",
    "record": "(namespace || chr(1) || user_id || chr(1) || external_id)",
    "extraction_strategy": "coalesce(extraction ->> 'strategy', 'discrete')",
    "last_accessed": "coalesce((SELECT use.last_accessed_at FROM episode_access use"
    " WHERE use.tenant_id = agent_episodes.tenant_id AND use.id = agent_episodes.id), created_at)",
}
# `starts_with`, not LIKE: no character of the value means another.
OF_ONE: dict[str, str] = {
    "eq": "{column} = {value}::text",
    "ne": "{column} <> {value}::text",
    "any": "{column} = ANY({value}::text[])",
    "none": "{column} <> ALL({value}::text[])",
    "all": "{column} = ALL({value}::text[])",
    "startswith": "starts_with({column}, {value}::text)",
}
OF_LIST: dict[str, str] = {
    "eq": "{value}::text = ANY({column})",
    "ne": "{value}::text <> ALL({column})",
    "any": "{column} && {value}::text[]",
    "none": "NOT {column} && {value}::text[]",
    "all": "{column} @> {value}::text[]",
    "startswith": "EXISTS (SELECT FROM unnest({column}) AS item WHERE starts_with(item, {value}::text))",
}
OF_MOMENT: dict[str, str] = {
    "eq": "{column} = {value}::timestamptz",
    "ne": "{column} IS DISTINCT FROM {value}::timestamptz",
    "gt": "{column} > {value}::timestamptz",
    "lt": "{column} < {value}::timestamptz",
    "gte": "{column} >= {value}::timestamptz",
    "lte": "{column} <= {value}::timestamptz",
}


@dataclass(frozen=True, slots=True)
class FieldTest:
    """One operator of one field. All tests of a query must be met.

    `value` is a text, several for `any`, `none` and `all`, and a moment with its time zone for a field that
    holds one. Raises Invalid, naming the field, for what does not go together.
    """

    field: Field
    operator: Operator
    value: Value

    def __post_init__(self) -> None:
        if self.field not in get_args(Field):
            raise Invalid("Unknown field.", str(self.field))
        if self.operator not in (OF_MOMENTS if self.field in MOMENTS else OF_TEXTS):
            raise Invalid(f"{self.operator} is no operator of this field.", self.field)
        if not self._fits():
            raise Invalid(f"This is no value for {self.operator}.", self.field)

    def _fits(self) -> bool:
        if self.field in MOMENTS:
            return isinstance(self.value, datetime) and self.value.tzinfo is not None
        texts = self.value if self.operator in SEVERAL else (self.value,)
        return isinstance(texts, tuple) and all(isinstance(one, str) and "\x00" not in one for one in texts)


def test_params(tests: Sequence[FieldTest]) -> dict[str, Any]:
    """The values by the names that `test_conditions` has for them."""
    return {f"test_{place}": _param(one) for place, one in enumerate(tests)}


def test_conditions(tests: Sequence[FieldTest]) -> list[str]:
    """The conditions of rows of `agent_episodes`, a table that goes by its own name."""
    return [_sql(one, f"%(test_{place})s") for place, one in enumerate(tests)]


def numbered_conditions(tests: Sequence[FieldTest]) -> Iterator[tuple[str, list[Any]]]:
    """The same one by one, each with its value, for whoever counts parameters instead of naming them."""
    for one in tests:
        yield _sql(one, "%s"), [_param(one)]


def record_name(namespace: str, user_id: str, record_id: str) -> str:
    """What the field `record` holds of the record that the client calls so."""
    return "\x01".join((namespace, user_id, record_id))


def users_named(tests: Sequence[FieldTest]) -> tuple[str, ...] | None:
    """The only users whose episodes can meet the tests, None if they do not say."""
    named: Mapping[str, Any] = {one.operator: one.value for one in tests if one.field == "user_id"}
    if "eq" in named:
        return (named["eq"],)
    return named.get("any")


def _sql(test: FieldTest, value: str) -> str:
    return _template(test).format(column=COLUMNS.get(test.field, test.field), value=value)


def _template(test: FieldTest) -> str:
    if test.field in MOMENTS:
        return OF_MOMENT[test.operator]
    return (OF_LIST if test.field in LISTS else OF_ONE)[test.operator]


def _param(test: FieldTest) -> Any:
    return list(test.value) if isinstance(test.value, tuple) else test.value
