"""Contract rows 3 and 4: the figure is Redis's own, and over the limit the write stands."""

import pytest

from tests.aegis import stores

LIMIT = 65_536


def fill(member, session, length):
    return member.http.put(f"/working-memory/{session}", json={"data": {"blob": "x" * length}})


def test_size_bytes_is_memory_usage_of_every_field(acme, put):
    # Fields of very different lengths: a sample of five would miss.
    answer = put({f"f{number}": "x" * (number * 20) for number in range(60)})
    assert answer.json()["size_bytes"] == stores.size(acme, "c")
    shown = acme.http.get("/working-memory/c?envelope=1").json()["size_bytes"]
    assert shown == stores.size(acme, "c") > 30_000


def test_the_limit_is_passed_where_memory_usage_passes_it(acme):
    """The figure grows in the steps of Redis's allocator, so the limit itself is not met by every length."""
    over = {}
    for length in range(LIMIT - 16_384, LIMIT + 256, 256):
        over[length] = fill(acme, f"c{length}", length).status_code == 413
        assert over[length] == (stores.size(acme, f"c{length}") > LIMIT)
    assert set(over.values()) == {True, False}


def test_over_the_limit_is_413_after_the_write(acme, put):
    put({"small": 1}, ttl_seconds=3_600)
    stores.shorten(acme, "c", 100)
    answer = put({"scratchpad": "x" * 70_000})
    assert answer.status_code == 413
    assert f"exceeds {LIMIT} bytes" in answer.json()["detail"]
    assert stores.ttl(acme, "c") > 3_500
    assert acme.http.get("/working-memory/c").json() == {"small": 1, "scratchpad": "x" * 70_000}


@pytest.mark.parametrize("data", [{"scratchpad": "x" * 70_000}, {"entities": [{"name": "x" * 700}] * 100}])
def test_scratchpad_and_entities_count_like_any_field(put, data):
    assert put(data).status_code == 413


def test_deleting_brings_an_oversized_conversation_back_below(acme, put):
    put({"blob": "x" * 70_000, "kept": 1})
    acme.http.request("DELETE", "/working-memory/c", json={"fields": ["blob"]})
    assert put({"more": 2}).json()["data"] == {"kept": 1, "more": 2}


def test_one_conversation_does_not_count_for_another(put):
    put({"blob": "x" * 70_000}, session="big")
    assert put({"a": 1}, session="small").status_code == 200


class TestStrict:
    def test_nothing_is_written(self, strict):
        strict.http.put("/working-memory/c", json={"data": {"a": 1, "b": "old"}})
        answer = strict.http.put("/working-memory/c", json={"data": {"b": "x" * 70_000, "new": 1}})
        assert answer.status_code == 413
        assert f"exceeds {LIMIT} bytes" in answer.json()["detail"]
        assert "not written" in answer.json()["detail"]
        assert strict.http.get("/working-memory/c").json() == {"a": 1, "b": "old"}

    def test_a_refused_hold_does_not_count_either(self, strict):
        strict.http.put("/working-memory/c", json={"data": {"a": 1}})
        body = {"data": {"b": "x" * 70_000}, "ttl_seconds": 200}
        assert strict.http.put("/working-memory/c", json=body).status_code == 413
        assert stores.ttl(strict, "c") > 80_000

    def test_a_new_conversation_stays_empty(self, strict):
        assert fill(strict, "c", 70_000).status_code == 413
        assert strict.http.get("/working-memory/c").json() == {}

    def test_what_fits_is_written(self, strict):
        assert fill(strict, "c", 1_000).status_code == 200
