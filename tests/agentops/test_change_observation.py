"""`PATCH /observations/{id}`"""

import pytest

from tests.agentops.shapes import get, read, refused, save


def patch(member, number, **changes):
    return member.http.patch(f"/observations/{number}", json=changes)


def test_what_is_given_is_changed_and_the_rest_stays(acme):
    number = save(acme, tags=["a"])["id"]
    before = read(acme, number)
    answer = patch(acme, number, title="New title")
    assert answer.status_code == 200
    changed = answer.json()
    assert changed == read(acme, number)
    assert changed | {"updated_at": ""} == before | {"title": "New title", "updated_at": ""}


def test_a_new_content_has_a_new_hash_and_the_revisions_stay(acme):
    number = save(acme)["id"]
    before = read(acme, number)
    changed = patch(acme, number, content="Now 20 connections.", Type="decision").json()
    assert changed["normalized_hash"] != before["normalized_hash"]
    assert changed["revision_count"] == 1
    assert changed["type"] == "decision"
    assert [one["id"] for one in get(acme, "/search", q="20", project="orders")] == [number]
    assert get(acme, "/search", q="12", project="orders", match_mode="all") == []


def test_null_keeps_and_an_empty_list_clears(acme):
    number = save(acme, tags=["a"])["id"]
    assert patch(acme, number, tags=None, title=None).json()["tags"] == ["a"]
    assert "tags" not in patch(acme, number, tags=[]).json()
    assert patch(acme, number).status_code == 200


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"content": "  "}, "content is required"),
        ({"type": "", "title": "t" * 501}, "type is required; title exceeds 500 chars"),
        ({"tags": ["t"] * 21}, "tags exceed 20 items"),
    ],
)
def test_it_is_checked_as_when_it_is_saved(acme, changes, error):
    number = save(acme)["id"]
    refused(patch(acme, number, **changes), 400, f"validation failed: {error}")


def test_one_that_is_missing_or_deleted_is_404(acme, globex):
    number = save(acme)["id"]
    refused(patch(globex, number, title="x"), 404, "observation not found")
    refused(patch(acme, 999_999_999, title="x"), 404, "observation not found")
    acme.http.delete(f"/observations/{number}")
    refused(patch(acme, number, title="x"), 404, "observation not found")


def test_a_bad_id_or_body_is_400(acme):
    refused(patch(acme, "x", title="x"), 400, "invalid observation id")
    number = save(acme)["id"]
    refused(acme.http.patch(f"/observations/{number}", content=b""), 400, "invalid JSON: EOF")
    refused(patch(acme, number, title=1), 400)
