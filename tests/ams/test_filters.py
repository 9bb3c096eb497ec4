"""Filters as they come in, as tests of fields."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from api.ams.filters import Filters
from api.ams.search_bodies import Search
from episodic.record_tests import FieldTest

MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def tests_of(**filters: object) -> set[tuple[str, str, object]]:
    found = Filters.model_validate(filters).field_tests()
    return {(one.field, one.operator, one.value) for one in found}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"eq": "a"}, ("eq", "a")),
        ({"ne": "a"}, ("ne", "a")),
        ({"not_eq": "a"}, ("ne", "a")),
        ({"any": ["a", "b"]}, ("any", ("a", "b"))),
        ({"in_": ["a", "b"]}, ("any", ("a", "b"))),
        ({"in_": []}, ("any", ())),
        ({"none": ["a"]}, ("none", ("a",))),
        ({"not_in": ["a"]}, ("none", ("a",))),
        ({"all": ["a", "b"]}, ("all", ("a", "b"))),
        ({"startswith": "a"}, ("startswith", "a")),
    ],
)
@pytest.mark.parametrize(
    "field", ["session_id", "namespace", "user_id", "topics", "entities", "extraction_strategy"]
)
def test_operators_of_texts(field, given, meant):
    assert tests_of(**{field: given}) == {(field, *meant)}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"eq": "2026-05-01T00:00:00Z"}, {("eq", MAY)}),
        ({"ne": "2026-05-01T00:00:00"}, {("ne", MAY)}),
        ({"gt": "2026-05-01T02:00:00+02:00"}, {("gt", MAY)}),
        ({"gte": MAY, "lt": JUNE}, {("gte", MAY), ("lt", JUNE)}),
        ({"lte": MAY, "not_eq": JUNE}, {("lte", MAY), ("ne", JUNE)}),
        ({"between": [MAY, JUNE]}, {("gte", MAY), ("lte", JUNE)}),
        ({"between": [MAY, JUNE], "inclusive": "neither"}, {("gt", MAY), ("lt", JUNE)}),
        ({"between": [MAY, JUNE], "inclusive": "left"}, {("gte", MAY), ("lt", JUNE)}),
        ({"between": [MAY, JUNE], "inclusive": "right"}, {("gt", MAY), ("lte", JUNE)}),
    ],
)
@pytest.mark.parametrize("field", ["created_at", "last_accessed", "event_date"])
def test_operators_of_moments(field, given, meant):
    assert tests_of(**{field: given}) == {(field, *one) for one in meant}


def test_all_operators_of_all_fields_must_be_met():
    asked = {"topics": {"any": ["a"], "none": ["b"], "eq": "c"}, "memory_type": {"in_": ["semantic"]}}
    assert tests_of(**asked) == {
        ("topics", "any", ("a",)),
        ("topics", "none", ("b",)),
        ("topics", "eq", "c"),
        ("memory_type", "any", ("semantic",)),
    }


def test_what_is_null_or_empty_asks_for_nothing():
    assert tests_of(user_id={}, topics={}, entities=None) == set()
    assert tests_of(user_id={"eq": "ana", "in_": None}) == {("user_id", "eq", "ana")}


def test_nested_filters_are_met_beside_those_at_the_top():
    body = {"user_id": {"eq": "ana"}, "filters": {"user_id": {"ne": "bob"}, "topics": {"all": ["a"]}}}
    where = Search.model_validate(body).query(optimize=False).where
    assert set(where.tests) == {
        FieldTest("user_id", "eq", "ana"),
        FieldTest("user_id", "ne", "bob"),
        FieldTest("topics", "all", ("a",)),
    }


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"topics": {"like": "a"}}, "Unknown filter operator 'like'"),
        ({"created_at": {"near{}": MAY}}, "Unknown filter operator 'near{}'"),
        ({"created_at": {"startswith": "2026"}}, "startswith"),
        ({"memory_type": {"startswith": "s"}}, "startswith"),
        ({"user_id": {"eq": "a", "ne": "b"}}, "eq and ne"),
        ({"created_at": {"eq": MAY, "ne": JUNE}}, "eq and ne"),
        ({"topics": {"any": ["a"], "all": ["b"]}}, "any and all"),
        ({"topics": {"any": []}}, "any"),
        ({"memory_type": {"all": []}}, "all"),
        ({"user_id": {"startswith": ""}}, "startswith"),
        ({"user_id": {"startswith": "a", "ne": "b"}}, "startswith and ne"),
        ({"created_at": {"between": [MAY]}}, "between"),
        ({"created_at": {"between": [MAY, JUNE, JUNE]}}, "between"),
        ({"created_at": {"between": [MAY, JUNE], "gt": MAY}}, "between and gt"),
        ({"created_at": {"inclusive": "most"}}, "inclusive"),
        ({"memory_type": {"eq": "dream"}}, "eq"),
        ({"user_id": {"eq": None}}, "eq cannot be null"),
        ({"topics": {"any": None, "all": None}}, "any cannot be null"),
        ({"event_date": {"between": None, "inclusive": "left"}}, "between cannot be null"),
        ({"user_id": "ana"}, "user_id"),
        ({"topics": {"any": "tea"}}, "any"),
    ],
)
def test_what_is_no_filter_is_refused_by_its_name(filters, told):
    with pytest.raises(ValidationError) as refused:
        Filters.model_validate(filters)
    details = refused.value.errors()
    assert any(told in one["msg"] or told in one["loc"] for one in details), details


@pytest.mark.parametrize("name", ["bogus", "userid", "text", "filters"])
def test_a_nested_filter_of_no_field_is_refused_by_its_name(name):
    """Without it, more would be found than is meant."""
    with pytest.raises(ValidationError) as refused:
        Search.model_validate({"filters": {name: {"eq": "ana"}, "user_id": {"eq": "ana"}}})
    (detail,) = refused.value.errors()
    assert (detail["type"], detail["loc"]) == ("extra_forbidden", ("filters", name))
    assert detail["msg"] == f"Unknown filter field '{name}'"


def test_unknown_fields_beside_the_filters_are_ignored():
    body = {"bogus": {"eq": 1}, "userid": {"eq": "ana"}, "filters": {}}
    assert Search.model_validate(body).query(optimize=False).where.tests == ()
