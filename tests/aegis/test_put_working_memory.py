"""Contract row 2."""

import pytest

from tests.aegis import stores


def test_the_reply_is_the_merged_whole(acme, put):
    put({"a": 1, "b": [1]})
    answer = put({"b": [2], "c": None})
    assert answer.status_code == 200
    assert answer.json() == {
        "conversation_id": "c",
        "data": {"a": 1, "b": [2], "c": None},
        "size_bytes": stores.size(acme, "c"),
        "ttl_seconds": stores.DAY,
    }


def test_a_nested_object_is_replaced_not_merged(put):
    put({"a": {"x": 1}})
    assert put({"a": {"y": 2}}).json()["data"] == {"a": {"y": 2}}


def test_empty_data_changes_nothing(put):
    put({"a": 1})
    assert put({}).json()["data"] == {"a": 1}


def test_empty_data_of_a_new_conversation_is_an_empty_object(acme, put):
    assert put({}).json() == {"conversation_id": "c", "data": {}, "size_bytes": 0, "ttl_seconds": 0}
    assert acme.http.get("/working-memory/c").json() == {}


def test_an_empty_field_name_is_a_name(acme, put):
    put({"": "nameless"})
    assert acme.http.get("/working-memory/c").json() == {"": "nameless"}


def test_unknown_members_of_the_body_are_ignored(put):
    assert put({"a": 1}, colour="red").status_code == 200


@pytest.mark.parametrize(
    "body", [{}, {"data": None}, {"data": []}, {"data": "x"}, {"data": 1}, [], "x", 3, None]
)
def test_data_that_is_missing_or_no_object_is_refused(acme, body):
    answer = acme.http.put("/working-memory/c", json=body)
    assert answer.status_code == 422
    assert all(set(problem) == {"loc", "msg", "type"} for problem in answer.json()["detail"])
    assert acme.http.get("/api/v1/sessions").json()["results"] == []


def test_two_writers_of_different_fields_both_count(acme, put):
    put({"a": 1})
    put({"b": 2})
    assert acme.http.get("/working-memory/c").json() == {"a": 1, "b": 2}
