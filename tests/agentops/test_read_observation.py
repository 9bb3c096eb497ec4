"""`GET /observations/{id}`"""

import pytest

from tests.agentops.shapes import read, refused, save


def test_what_is_empty_is_left_out(acme):
    stored = read(acme, save(acme)["id"])
    assert stored.keys().isdisjoint({"tags", "topic_key", "last_seen_at", "promoted_to"})


def test_times_are_utc_to_the_second(acme):
    stored = read(acme, save(acme)["id"])
    for name in ("created_at", "updated_at"):
        assert len(stored[name]) == len("2026-01-01T00:00:00Z")
        assert stored[name][10] + stored[name][-1] == "TZ"


@pytest.mark.parametrize("number", ["x", "1.5", "1e3", "9223372036854775808", "9" * 40, "\uff11", "a%20b"])
def test_what_is_no_number_is_400(acme, number):
    refused(acme.http.get(f"/observations/{number}"), 400, "invalid observation id")


@pytest.mark.parametrize("number", ["0", "-1", "9223372036854775807", "+7", "007"])
def test_one_that_is_not_there_is_404(acme, number):
    refused(acme.http.get(f"/observations/{number}"), 404, "observation not found")


def test_so_is_one_that_was_deleted_and_anothers(acme, globex):
    number = save(acme)["id"]
    refused(globex.http.get(f"/observations/{number}"), 404, "observation not found")
    acme.http.delete(f"/observations/{number}")
    refused(acme.http.get(f"/observations/{number}"), 404, "observation not found")
