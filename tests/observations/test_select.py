"""Lists as people look through them: every filter, both orders, pages, search, counts."""

from datetime import timedelta

import pytest
from django.utils import timezone

from observations import selecting
from observations.selecting import count_selected, find_selected, list_names, list_selected
from observations.types import Selection
from tests.observations.notes import EARLY, delete, edit, embed, fill, note


def shown(caller, *, limit=50, sort="newest", before=None, **where):
    hits = list_selected(caller=caller, where=Selection(**where), limit=limit, sort=sort, before=before)
    return [hit.observation.content for hit in hits]


def found(caller, *, start=0, limit=50, **where):
    return find_selected(caller=caller, where=Selection(**where), start=start, limit=limit)


def contents(page):
    return [hit.observation.content for hit in page.hits]


@pytest.fixture
def filled(acme):
    caller = acme.caller
    ann = {"session_id": "s-ann", "user_id": "ann"}
    note(caller, "Alpha.", now=EARLY, tags=("red", "round"), type="bugfix")
    note(caller, "Beta.", now=EARLY + timedelta(days=1), project="billing", scope="global")
    note(caller, "Gamma.", now=EARLY + timedelta(days=2), tags=("red",), **ann)
    note(caller, "Delta.", now=EARLY + timedelta(days=3), session_id="s4")
    return caller


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, ["Delta.", "Gamma.", "Beta.", "Alpha."]),
        ({"type": "bugfix"}, ["Alpha."]),
        ({"project": "Orders"}, ["Delta.", "Gamma.", "Alpha."]),
        ({"scope": "global"}, ["Beta."]),
        ({"tag": "red"}, ["Gamma.", "Alpha."]),
        ({"tag": "re"}, []),
        ({"user_id": "ann"}, ["Gamma."]),
        ({"session_id": "s4"}, ["Delta."]),
        ({"agent_id": "nobody"}, []),
        ({"since": EARLY + timedelta(days=2)}, ["Delta.", "Gamma."]),
        ({"until": EARLY + timedelta(days=1)}, ["Beta.", "Alpha."]),
        ({"tag": "red", "user_id": "ann"}, ["Gamma."]),
        ({"trashed": True}, []),
    ],
)
def test_each_filter_leaves_what_it_names(filled, where, expected):
    assert shown(filled, **where) == expected
    assert count_selected(caller=filled, where=Selection(**where), most=3) == min(len(expected), 3)


def test_what_was_changed_last_comes_first_if_so_asked_for(filled):
    first = list_selected(caller=filled, where=Selection(type="bugfix"), limit=1)[0].observation
    edit(filled, first.id, title="New title", now=timezone.now())
    assert shown(filled, sort="updated")[0] == "Alpha."
    assert shown(filled)[0] == "Delta."


@pytest.mark.parametrize("sort", ["newest", "updated"])
def test_pages_leave_nothing_out_and_repeat_nothing(filled, sort):
    seen, before = [], None
    while page := list_selected(caller=filled, where=Selection(), limit=1, sort=sort, before=before):
        one = page[0].observation
        seen.append(one.content)
        before = (one.updated_at if sort == "updated" else one.created_at, one.id)
    assert seen == ["Delta.", "Gamma.", "Beta.", "Alpha."]


def test_a_search_knows_meaning_and_keeps_to_the_filters(filled):
    note(filled, "Cats and dogs are good pets.", title="Animals")
    note(filled, "Kittens are cheap.", title="Prices", project="billing", scope="global")
    embed(filled)
    assert set(contents(found(filled, text="puppies and kittens"))) >= {"Cats and dogs are good pets."}
    assert "Kittens are cheap." not in contents(found(filled, text="kittens", project="orders"))
    assert contents(found(filled, text="kittens", project="billing")) == ["Kittens are cheap."]


def test_what_holds_every_word_comes_before_what_is_only_alike(filled):
    note(filled, "Kittens chase the red ball.", title="Play")
    note(filled, "Kittens sleep.", title="Rest")
    note(filled, "Cats and dogs are good pets.", title="Animals")
    embed(filled)
    page = found(filled, text="kittens ball")
    assert contents(page)[0] == "Kittens chase the red ball."
    assert [hit.method for hit in page.hits[:2]] == ["bm25", "hybrid"]
    assert (page.holding, page.total) == (1, len(page.hits))
    assert "Kittens sleep." in contents(page)
    assert len(contents(page)) == len(set(contents(page))), "none is shown twice"


def test_the_pages_of_a_search_go_on_behind_the_first_hundred(acme):
    caller = acme.caller
    fill(caller, [f"Say {n} {'again ' * (n % 7)}." for n in range(130)])
    seen, start = [], 0
    while page := found(caller, text="say", start=start).hits:
        seen += [hit.observation.id for hit in page]
        start += 50
    assert len(seen) == len(set(seen)) == 130
    assert (found(caller, text="say").holding, found(caller, text="say").total) == (130, 130)
    assert [hit.observation.id for hit in found(caller, text="say", limit=130).hits] == seen, "in one order"


def test_a_ranking_ends_and_the_list_by_time_goes_on(acme, monkeypatch):
    monkeypatch.setattr(selecting, "RANKED", 110)
    fill(acme.caller, [f"Say {n}." for n in range(120)])
    note(acme.caller, "Something else.")
    page = found(acme.caller, text="say", start=100)
    assert (len(page.hits), page.holding, page.total) == (10, 111, 110)
    assert len(shown(acme.caller, text="say", limit=200)) == 120
    assert count_selected(caller=acme.caller, where=Selection(text="say"), most=500) == 120


def test_what_falls_out_of_a_project_hides_nothing_of_it(acme, monkeypatch):
    """The index brings every project's global ones: here, all of the best."""
    monkeypatch.setattr(selecting, "RANKED", 3)
    monkeypatch.setattr(selecting, "FOUND", 3)
    caller = acme.caller
    fill(caller, ["Say."] * 8, project="billing", scope="global")
    fill(caller, ["Say it in many more words than the others do."] * 2)
    page = found(caller, text="say", project="orders")
    assert (page.holding, {hit.observation.project for hit in page.hits}) == (2, {"orders"})
    assert count_selected(caller=caller, where=Selection(text="say", project="orders"), most=9) == 2


@pytest.mark.parametrize("text", ["???", "/", "- …"])
def test_what_has_no_words_finds_nothing_rather_than_everything(filled, text):
    assert found(filled, text=text).hits == shown(filled, text=text) == []
    assert count_selected(caller=filled, where=Selection(text=text), most=9) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("alpha", ["Alpha."]), ("alpha cluster", ["Alpha."]), ("alpha beta", []), ("infra/d", ["Keyed."])],
)
def test_the_list_by_time_holds_every_word_or_the_topic_key(filled, text, expected):
    note(filled, "Keyed.", topic_key="infra/db", now=EARLY)
    assert shown(filled, text=text) == expected
    assert found(filled, text=text).holding == len(expected)


def test_the_trash_is_searched_by_what_it_contains(filled):
    one = list_selected(caller=filled, where=Selection(type="bugfix"), limit=1)[0].observation
    delete(filled, one.id)
    assert shown(filled, trashed=True, text="alph") == ["Alpha."]
    assert shown(filled, trashed=True, text="%") == []
    assert shown(filled, text="alpha") == contents(found(filled, text="alpha", type="bugfix")) == []


def test_names_are_those_of_the_living(filled):
    names = list_names(caller=filled)
    assert (names.projects, names.types) == (("billing", "orders"), ("bugfix", "decision"))


def test_a_bound_key_sees_its_own(filled, acme):
    ann = acme.with_key(user_id="ann").caller
    assert shown(ann) == ["Gamma."]
    assert list_names(caller=ann).projects == ()
    assert shown(acme.with_key(project="orders").caller, project="billing") == ["Beta."], "it is global"


def test_globex_sees_none_of_acmes(filled, globex):
    assert shown(globex.caller) == []
    assert count_selected(caller=globex.caller, where=Selection(), most=10) == 0
