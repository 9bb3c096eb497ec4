"""Lists, newest first, page by page."""

from datetime import timedelta

import pytest

from tests.observations.notes import EARLY, delete, fill, listed, note


def contents(rows):
    return [row.content for row in rows]


def pages(caller, size, **where):
    page = listed(caller, limit=size, **where)
    while page:
        yield page
        page = listed(caller, limit=size, before=(page[-1].created_at, page[-1].id), **where)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_over_equal_moments_miss_nothing_and_repeat_nothing(caller, size):
    fill(caller, [f"n{n}" for n in range(23)], every=5)
    told = [row.content for page in pages(caller, size, project="orders") for row in page]
    assert told == [f"n{n}" for n in reversed(range(23))]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_hold_the_projects_own_and_every_projects_global_ones(caller, size):
    for n in range(15):
        note(
            caller,
            f"n{n}",
            project=("orders", "billing", "stock")[n % 3],
            scope=("project", "global")[n % 2],
            now=EARLY + timedelta(seconds=n // 4),
        )
    seen = [n for n in range(15) if n % 3 == 0 or n % 2]
    told = [row.content for page in pages(caller, size, project="orders") for row in page]
    assert told == [f"n{n}" for n in reversed(seen)]


def test_without_a_project_all_are_told(caller):
    note(caller, "a", project="billing", now=EARLY)
    note(caller, "b", scope="global", now=EARLY)
    note(caller, "c", now=EARLY)
    assert contents(listed(caller)) == ["c", "b", "a"]


def test_every_filter_narrows(caller):
    note(caller, "a", type="bugfix", tags=("x", "y"), session_id="s9", now=EARLY)
    note(caller, "b", tags=("y",), scope="team", now=EARLY + timedelta(hours=1))
    note(caller, "c", user_id="ann", session_id="s3", now=EARLY + timedelta(hours=2))
    note(caller, "d", scope="global", project="billing", now=EARLY + timedelta(hours=3))
    for where, expected in (
        ({"type": "bugfix"}, "a"),
        ({"type": "Bugfix"}, ""),
        ({"tags": ("y",)}, "ba"),
        ({"tags": ("y", "x")}, "a"),
        ({"tags": ("z",)}, ""),
        ({"session_id": "s9"}, "a"),
        ({"user_id": "ann"}, "c"),
        ({"scope": "team"}, "b"),
        ({"scope": "project"}, "ca"),
        ({"scope": "global"}, "d"),
        ({"since": EARLY + timedelta(hours=1)}, "dcb"),
        ({"until": EARLY + timedelta(hours=1)}, "ba"),
        ({"since": EARLY + timedelta(hours=1), "until": EARLY + timedelta(hours=2)}, "cb"),
        ({"scope": "global", "project": "stock"}, "d"),
        ({"project": "ORDERS "}, "dcba"),
        ({"project": "billing"}, "d"),
        ({"project": "stock"}, "d"),
        ({"project": "billing", "scope": "project"}, ""),
    ):
        wanted = {"project": "orders"} | where
        assert "".join(contents(listed(caller, **wanted))) == expected, where


def test_the_trash_has_a_list_of_its_own(caller):
    keep, gone = note(caller, "keep").observation, note(caller, "gone").observation
    elsewhere = note(caller, "elsewhere", project="billing").observation
    delete(caller, gone.id, now=EARLY)
    delete(caller, elsewhere.id, now=EARLY)
    assert [row.id for row in listed(caller)] == [keep.id]
    assert contents(listed(caller, trashed=True, project="orders")) == ["gone"]
    assert contents(listed(caller, trashed=True)) == ["elsewhere", "gone"]


def test_a_limit_of_nothing_is_nothing(caller):
    note(caller, "a")
    assert listed(caller, limit=0) == []
