"""An observation between its neighbours of the same project."""

from datetime import timedelta

import pytest

from tenants.errors import NotFound
from tests.observations.notes import EARLY, delete, fill, note, timeline


def contents(rows):
    return [row.content for row in rows]


def test_neighbours_of_one_second_stand_in_the_order_of_their_numbers(caller):
    rows = fill(caller, [f"n{n}" for n in range(9)], every=9)
    assert len({row.created_at for row in rows}) == 1
    assert contents(timeline(caller, rows[4].id)) == ["n1", "n2", "n3", "n4", "n5", "n6", "n7"]
    assert contents(timeline(caller, rows[4].id, before=1, after=2)) == ["n3", "n4", "n5", "n6"]


def test_the_moment_counts_before_the_number(caller):
    late = note(caller, "late", now=EARLY + timedelta(minutes=1)).observation
    early = note(caller, "early", now=EARLY).observation
    assert early.id > late.id
    assert contents(timeline(caller, early.id)) == contents(timeline(caller, late.id)) == ["early", "late"]


def test_at_the_edges_there_is_less(caller):
    rows = fill(caller, ["a", "b", "c"])
    assert contents(timeline(caller, rows[0].id)) == ["a", "b", "c"]
    assert contents(timeline(caller, rows[2].id, before=1)) == ["b", "c"]
    assert contents(timeline(caller, rows[1].id, before=0, after=0)) == ["b"]


def test_of_many_the_nearest_are_told(caller):
    rows = fill(caller, [f"n{n}" for n in range(50)], every=7)
    assert contents(timeline(caller, rows[25].id, before=2, after=2)) == ["n23", "n24", "n25", "n26", "n27"]


def test_other_projects_and_the_trash_are_absent(caller):
    a = note(caller, "a", now=EARLY).observation
    note(caller, "b", project="billing", now=EARLY)
    note(caller, "c", project="billing", scope="global", now=EARLY)
    trashed = note(caller, "d", now=EARLY).observation
    e = note(caller, "e", scope="global", now=EARLY).observation
    delete(caller, trashed.id)
    assert contents(timeline(caller, a.id)) == ["a", "e"]
    assert contents(timeline(caller, e.id)) == ["a", "e"], "a global one among those of its project"


def test_another_users_are_absent_for_a_key_of_one(acme):
    note(acme.caller, "bob's", user_id="bob")
    mine = note(acme.caller, "ann's", user_id="ann").observation
    assert contents(timeline(acme.with_key(user_id="ann").caller, mine.id)) == ["ann's"]
    assert contents(timeline(acme.caller, mine.id)) == ["bob's", "ann's"]


def test_what_is_not_there_has_no_timeline(caller):
    with pytest.raises(NotFound, match=r"^observation not found$"):
        timeline(caller, 10**15)
