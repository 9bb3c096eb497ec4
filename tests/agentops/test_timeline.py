"""`GET /timeline`"""

import pytest

from tests.agentops.shapes import get, refused, save


def noted(member, count, **fields):
    """All in about the same second."""
    return [save(member, title=str(n), content=f"text {n}", **fields)["id"] for n in range(count)]


def line(member, number, **query):
    return [one["id"] for one in get(member, "/timeline", observation_id=number, **query)]


def test_three_before_and_three_after_in_order(acme):
    ids = noted(acme, 9)
    entries = get(acme, "/timeline", observation_id=ids[4])
    assert list(entries[0]) == ["id", "type", "title", "content", "created_at"]
    assert [one["id"] for one in entries] == ids[1:8]
    assert line(acme, ids[0]) == ids[:4]
    assert line(acme, ids[8]) == ids[5:]


def test_as_many_as_asked(acme):
    ids = noted(acme, 6)
    assert line(acme, ids[3], before=1, after=2) == ids[2:6]
    assert line(acme, ids[3], before=1_000_000, after=1) == ids[:5]
    assert line(acme, ids[3], before=0, after="x") == ids  # the default, for both


def test_of_the_same_second_none_is_lost(acme):
    export = {
        "observations": [
            {"session_id": "s", "type": "t", "title": str(n), "content": str(n), "project": "orders",
             "created_at": "2026-01-01T00:00:00Z"}
            for n in range(5)
        ]
    }  # fmt: skip
    assert acme.http.post("/import", json=export).json()["imported_observations"] == 5
    ids = [one["id"] for one in reversed(get(acme, "/observations/recent", project="orders"))]
    assert line(acme, ids[2], before=9, after=9) == ids


def test_other_projects_and_deleted_ones_are_left_out(acme):
    first, second, third = noted(acme, 3)
    noted(acme, 2, project="other")
    acme.http.delete(f"/observations/{second}")
    assert line(acme, first) == [first, third]


@pytest.mark.parametrize("named", ["", "0", "x", "-1", "1.5", "9" * 19, "9" * 40])
def test_the_observation_has_to_be_named(acme, named):
    refused(acme.http.get(f"/timeline?observation_id={named}"), 400, "observation_id required")
    refused(acme.http.get("/timeline"), 400, "observation_id required")


def test_one_that_is_not_there_is_404(acme, globex):
    (number,) = noted(acme, 1)
    for member, sought in ((acme, 999_999_999), (globex, number)):
        answer = member.http.get("/timeline", params={"observation_id": sought})
        refused(answer, 404, f"observation {sought} not found: sql: no rows in result set")
