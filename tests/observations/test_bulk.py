"""One deed on many: foretold, done in batches, in the audit log, and undone where that is promised."""

import pytest
from django.utils import timezone

from observations import bulk
from observations.bulk import Done, Reached, change_many, export_selected, foresee
from observations.figures import read_breakdown
from observations.types import Selection
from tenants.audit import list_entries
from tenants.errors import Invalid
from tests.observations.notes import (
    delete,
    edit,
    embed,
    listed,
    note,
    revisions,
    row_of,
    search,
    stored,
)


def do(caller, deed, value="", **where):
    return change_many(caller=caller, where=Selection(**where), deed=deed, value=value, now=timezone.now())


def exported(caller, **where):
    return [one for page in export_selected(caller=caller, where=Selection(**where)) for one in page]


@pytest.fixture
def five(acme):
    for n in range(4):
        note(acme.caller, f"Say {n}.", type="bugfix" if n % 2 else "decision")
    note(acme.caller, "Say all.", project="billing", scope="global", session_id="s-ann", user_id="ann")
    return acme.caller


def test_it_tells_how_many_and_whose_before(five):
    assert foresee(caller=five, where=Selection()) == Reached(
        count=5, beyond=False, projects=(("orders", 4), ("billing", 1)), everywhere=1, people=1
    )
    assert foresee(caller=five, where=Selection(type="bugfix")).count == 2


def test_more_than_it_does_at_once_is_said(five, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 3)
    told = foresee(caller=five, where=Selection())
    assert (told.count, told.beyond) == (3, True)
    assert do(five, "tag", "x").changed == 3


@pytest.mark.parametrize("together", [2, 100])
def test_a_tag_comes_to_all_and_goes_from_all(five, monkeypatch, together):
    monkeypatch.setattr(bulk, "TOGETHER", together)
    assert do(five, "tag", " q3 ") == Done(changed=5)
    assert {tuple(one.tags) for one in stored(five)} == {("q3",)}
    assert do(five, "tag", "q3") == Done(unchanged=5)
    assert do(five, "untag", "q3", project="orders") == Done(changed=4)
    assert [len(revisions(five, one.id)) for one in stored(five)] == [2, 2, 2, 2, 1]


def test_a_new_type_is_found_at_once(five):
    assert do(five, "retype", "pitfall", type="bugfix") == Done(changed=2)
    assert len(search(five, "pitfall", mode="all")) == 2
    assert search(five, "bugfix", mode="all") == []


def test_what_is_chosen_alone_is_changed(five):
    ids = tuple(one.id for one in stored(five)[:2])
    do(five, "trash", ids=ids)
    assert len(listed(five)) == 3
    assert search(five, "say", project=None, mode="all", limit=10) != []


def test_what_went_to_the_trash_comes_back_and_is_found(five):
    assert do(five, "trash") == Done(changed=5)
    assert listed(five) == []
    assert search(five, "say") == []
    assert do(five, "restore", trashed=True) == Done(changed=5)
    embed(five)
    assert len(search(five, "say", project=None, mode="all")) == 5


def test_a_topic_that_is_taken_keeps_one_in_the_trash(five):
    first = note(five, "Old.", topic_key="t").observation
    delete(five, first.id)
    second = note(five, "Newer.", topic_key="t").observation
    delete(five, second.id)
    assert do(five, "restore", trashed=True) == Done(changed=1, refused=1)


def test_one_with_as_many_tags_as_it_takes_is_left_alone(five):
    note(five, "Full.", tags=tuple(f"t{n}" for n in range(20)), project="full")
    assert do(five, "tag", "more", project="full") == Done(refused=1)


@pytest.mark.parametrize(
    ("deed", "value"), [("tag", " "), ("tag", "x" * 101), ("retype", ""), ("retype", "x" * 51)]
)
def test_a_bad_value_changes_nothing(five, deed, value):
    with pytest.raises(Invalid):
        do(five, deed, value)
    assert {tuple(one.tags) for one in stored(five)} == {()}


def test_every_batch_is_in_the_audit_log(five, monkeypatch):
    monkeypatch.setattr(bulk, "TOGETHER", 3)
    do(five, "trash")
    export_selected(caller=five, where=Selection(trashed=True))
    entries = list_entries(caller=five, limit=10)
    told = [(one.action, one.details["count"]) for one in entries if "count" in one.details]
    assert sorted(told) == [
        ("observation.bulk_trash", 2), ("observation.bulk_trash", 3), ("observation.export", 5),
    ]  # fmt: skip


def test_a_bound_key_and_a_neighbour_touch_nothing_of_others(five, acme, globex):
    ids = tuple(one.id for one in stored(five))
    assert do(globex.caller, "trash", ids=ids) == Done()
    assert do(acme.with_key(project="orders").caller, "trash", ids=ids) == Done(changed=4), (
        "not the global one"
    )
    assert do(acme.with_key(user_id="bob").caller, "trash", ids=ids) == Done()
    assert row_of(five, ids[-1]).deleted_at is None


def test_all_of_a_search_are_those_with_every_word(five):
    embed(five)
    assert foresee(caller=five, where=Selection(text="say 2")).count == 1
    assert [one.content for one in exported(five, text="say all")] == ["Say all."]
    assert do(five, "tag", "x", text="say", type="bugfix") == Done(changed=2)
    assert do(five, "trash", text="nobody said") == Done()
    assert do(five, "trash", text="...") == Done(), "no words are not all words"
    assert do(five, "trash", text="say 1 3") == Done()
    assert do(five, "trash", text="say") == Done(changed=5)


def test_what_no_longer_holds_the_words_is_passed_by(five, monkeypatch):
    chosen = tuple(one.id for one in stored(five))
    monkeypatch.setattr(bulk, "choose", lambda **_: chosen)
    edit(five, chosen[0], content="Hush.")
    assert do(five, "tag", "x", text="say") == Done(changed=4, passed=1)
    assert row_of(five, chosen[0]).tags == []


def test_an_export_is_whole_however_many_there_are(five, monkeypatch):
    monkeypatch.setattr(bulk, "TOGETHER", 2)
    assert [one.content for one in exported(five)] == ["Say all.", "Say 3.", "Say 2.", "Say 1.", "Say 0."]
    pages = export_selected(caller=five, where=Selection())
    delete(five, stored(five)[0].id)
    assert len([one for page in pages for one in page]) == 4, "without what is gone when its turn comes"


def test_figures_count_the_living_by_type_and_project(five, globex):
    delete(five, stored(five, type="bugfix")[0].id)
    told = read_breakdown(caller=five, most=1)
    assert (told.types, told.projects, told.live, told.trashed) == (
        (("decision", 3),),
        (("orders", 3),),
        4,
        1,
    )
    assert (told.type_count, told.project_count) == (2, 2)
    assert read_breakdown(caller=globex.caller).live == 0
