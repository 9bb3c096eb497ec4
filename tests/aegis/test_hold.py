"""Contract row 7: how long a conversation is kept."""

import pytest

from tests.aegis import stores
from tests.aegis.stores import DAY

WEEK = 7 * DAY


def test_the_hold_is_a_day(acme, put):
    assert put({"a": 1}).json()["ttl_seconds"] == DAY
    assert DAY - 60 < stores.ttl(acme, "c") <= DAY


@pytest.mark.parametrize("query", ["", "?envelope=1"])
def test_a_read_renews_it(acme, put, query):
    put({"a": 1})
    stores.shorten(acme, "c", 100)
    acme.http.get(f"/working-memory/c{query}")
    assert stores.ttl(acme, "c") > DAY - 5


def test_a_write_renews_it(acme, put):
    put({"a": 1})
    stores.shorten(acme, "c", 100)
    put({"b": 1})
    assert stores.ttl(acme, "c") > DAY - 5


def test_deleting_a_field_renews_it(acme, put):
    put({"a": 1, "b": 2})
    stores.shorten(acme, "c", 100)
    acme.http.delete("/working-memory/c?fields=a")
    assert stores.ttl(acme, "c") > DAY - 5


@pytest.mark.parametrize("hold", [60, 3 * DAY])
def test_a_hold_of_its_own_is_renewed_as_such(acme, put, hold):
    assert put({"a": 1}, ttl_seconds=hold).json()["ttl_seconds"] == hold
    assert acme.http.get("/working-memory/c?envelope=1").json()["ttl_seconds"] == hold
    assert hold - 5 < stores.ttl(acme, "c") <= hold
    stores.shorten(acme, "c", 10)
    assert put({"b": 1}).json()["ttl_seconds"] == hold
    assert hold - 5 < stores.ttl(acme, "c") <= hold


def test_turns_and_ledger_do_not_shorten_it(acme, put):
    put({"a": 1}, ttl_seconds=3 * DAY)
    acme.http.post("/api/v1/sessions/c/turns", json={"turns": [{"role": "user", "content": "hi"}]})
    acme.http.get("/api/v1/sessions/c/window")
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert stores.ttl(acme, "c") > 3 * DAY - 5


def test_no_hold_outlives_a_week(acme, put):
    assert put({"a": 1}, ttl_seconds=30 * DAY).json()["ttl_seconds"] == WEEK
    assert WEEK - 5 < stores.ttl(acme, "c") <= WEEK


def test_the_week_counts_from_the_beginning(acme, put):
    put({"a": 1}, ttl_seconds=30 * DAY)
    stores.was_born(acme, "c", 6 * DAY)
    acme.http.get("/working-memory/c")
    assert DAY - 5 < stores.ttl(acme, "c") <= DAY


@pytest.mark.parametrize("hold", [0, -1, -(10**30), 10**30, 1.5, "x", True, [], {}])
def test_a_hold_that_is_no_positive_number_is_refused(acme, put, hold):
    answer = put({"a": 1}, ttl_seconds=hold)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "ttl_seconds"]
    assert acme.http.get("/working-memory/c").json() == {}


def test_a_hold_of_null_is_the_usual_one(put):
    assert put({"a": 1}, ttl_seconds=None).json()["ttl_seconds"] == DAY


def test_what_expired_is_an_empty_object(acme, put):
    put({"a": 1}, ttl_seconds=3_600)
    stores.shorten(acme, "c", 0)
    assert acme.http.get("/working-memory/c").json() == {}
    assert put({"b": 2}).json()["ttl_seconds"] == DAY
