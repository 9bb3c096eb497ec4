"""Many observations at once: told before, done then; likely duplicates made one; all of them in a file."""

import json

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from observations.observations import access_observation
from observations.selecting import count_selected
from observations.types import Selection
from tenants.audit import list_entries
from tests.console.test_observations import ids
from tests.observations.notes import EARLY, embed, note, stored


@pytest.fixture
def five(editor):
    for n in range(5):
        note(editor.caller, f"Say {n}.", title=f"No {n}", type="bugfix" if n < 2 else "decision")
    return editor


def test_the_chosen_ones_are_tagged_once_it_is_said_how_many(five, browse, picture):
    page = browse(five)
    page.goto(five.path("observations"))
    for n in (1, 3):
        page.get_by_label(f"Select No {n}").check()
    page.get_by_label("What to do with those selected").select_option("tag")
    page.get_by_role("button", name="To those selected").click()
    page.get_by_label("The tag").fill("q3")
    picture(page, "observations-many")
    page.get_by_role("button", name="Add a tag: 2 observations").click()
    page.get_by_text("2 tagged; 0 were so already; 0 could not be.").wait_for()
    assert sorted(one.title for one in stored(five.caller) if one.tags == ["q3"]) == ["No 1", "No 3"]


def test_all_that_match_are_thrown_away_and_what_came_since_is_not(five):
    asked = five.open("observations/many", type="bugfix", deed="trash", all=1)
    assert "Move to the trash: 2 observations" in asked.text
    as_of = asked.text.split('name="as_of" value="')[1].split('"')[0]
    note(five.caller, "Late.", type="bugfix", now=timezone.now())
    answer = five.submit(
        "observations/many", at="observations", type="bugfix", deed="trash", all=1, as_of=as_of, stated=2
    )
    assert answer.headers["location"].endswith("?type=bugfix")
    assert count_selected(caller=five.caller, where=Selection(type="bugfix"), most=9) == 1
    assert count_selected(caller=five.caller, where=Selection(trashed=True), most=9) == 2
    assert any(one.action == "observation.bulk_trash" for one in list_entries(caller=five.caller, limit=5))


def test_without_a_choice_or_a_word_nothing_is_done(five):
    assert five.submit("observations/many", at="observations", deed="trash").status_code == 422
    chosen = ids(five.open("observations"))[0]
    answer = five.submit("observations/many", at="observations", deed="tag", id=chosen, value=" ")
    assert (answer.status_code, "Name a tag." in answer.text) == (422, True)
    assert "Nothing was selected" in five.open("observations/many").text
    odd = five.open("observations/many", all=1, deed="odd")
    assert (odd.status_code, "Change many observations: 5" in odd.text) == (200, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": "garbage"}, {"until": "2026-02-30"}, {"sort": "x"}, {"as_of": "2026-13-40T99:00:00Z"},
        {"as_of": "2026-01-01T00:00:00"}, {"id": "x"}, {"id": ["1", "²"]}, {"id": list(range(901))},
        {"q": "a\x00"},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_means_nobody(five, wrong):
    """Left out, it would mean everybody."""
    chosen = {"deed": "tag", "value": "x", "all": 1} | wrong
    asked = five.open("observations/many", **chosen)
    assert (asked.status_code, "observations</button>" in asked.text) == (422, False)
    stated = {"stated": 5, "as_of": timezone.now().isoformat()}
    assert five.submit("observations/many", at="observations", **(stated | chosen)).status_code == 422
    if "as_of" not in wrong:
        assert five.open("observations/export", **wrong).status_code == 422
    assert {tuple(one.tags) for one in stored(five.caller)} == {()}


def test_all_are_changed_only_after_it_was_stated_how_many(five):
    for given in ({}, {"as_of": timezone.now().isoformat()}, {"stated": 5}):
        answer = five.submit("observations/many", at="observations", all=1, deed="trash", **given)
        assert (answer.status_code, "Look at what it touches first." in answer.text) == (422, True)
    assert count_selected(caller=five.caller, where=Selection(), most=9) == 5


def test_what_is_in_the_trash_is_restored_together(five, browse):
    for one in stored(five.caller)[:3]:
        five.submit(f"observations/{one.id}/trash")
    page = browse(five)
    page.goto(five.path("observations?trash=on"))
    page.get_by_label("All shown").check()
    expect(page.get_by_label("What to do with those selected")).to_have_value("restore")
    page.get_by_role("button", name="To those selected").click()
    page.get_by_role("button", name="Restore from the trash: 3 observations").click()
    page.get_by_text("3 restored; 0 were so already; 0 could not be.").wait_for()
    assert count_selected(caller=five.caller, where=Selection(), most=9) == 5


def test_all_of_a_search_are_those_that_hold_every_word(five, browse, picture):
    note(five.caller, "Say and tell.", title="Both")
    page = browse(five)
    page.goto(five.path("observations?q=say+tell"))
    expect(page.get_by_role("status")).to_contain_text(
        "1 holds every word, best first; then 5 that hold some"
    )
    page.get_by_label("What to do with those selected").select_option("tag")
    page.get_by_role("button", name="To all with every word").click()
    expect(page.get_by_text("All that hold every word of “say tell”")).to_be_visible()
    page.get_by_label("The tag").fill("both")
    picture(page, "observations-many-found")
    page.get_by_role("button", name="Add a tag: 1 observation").click()
    page.get_by_text("1 tagged; 0 were so already; 0 could not be.").wait_for()
    assert [one.title for one in stored(five.caller) if one.tags == ["both"]] == ["Both"]


def test_the_file_of_a_search_holds_those_with_every_word_or_the_chosen(five):
    def taken(**query):
        return [one["title"] for one in five.open("observations/export", **query).json()["observations"]]

    assert taken(q="say 3") == ["No 3"]
    assert len(taken(q="say")) == 5
    assert taken(q="nobody") == []
    chosen = ids(five.open("observations", q="say 3"))
    assert len(chosen) == 5, "also what holds one of the words"
    assert len(taken(q="say 3", id=chosen)) == 5
    assert five.open("observations/export", deed="tag").status_code == 422


def test_a_viewer_sees_no_boxes_and_may_not(five, person):
    viewer = person("viewer")
    page = viewer.open("observations")
    assert ids(page) == []
    assert "New observation" not in page.text
    assert viewer.open("observations/many").status_code == 403


def test_what_matches_comes_in_a_file_that_can_be_imported(five, acme):
    answer = five.open("observations/export", type="bugfix")
    assert "attachment" in answer.headers["content-disposition"]
    document = json.loads(answer.text)
    assert sorted(one["title"] for one in document["observations"]) == ["No 0", "No 1"]
    for one in stored(five.caller):
        five.submit(f"observations/{one.id}/trash")
    assert acme.http.post("/import", json=document).status_code == 200
    assert count_selected(caller=five.caller, where=Selection(), most=9) == 0, "those in the trash are here"


def test_duplicates_are_made_one_and_can_be_two_again(editor, browse, picture):
    older = note(editor.caller, "We use the blue cluster.", tags=("a",), now=EARLY).observation
    newer = note(
        editor.caller, "We use the blue cluster now.", tags=("b",), title="Which cluster"
    ).observation
    embed(editor.caller)
    page = browse(editor)
    page.goto(editor.path("observations/duplicates"))
    picture(page, "observations-alike")
    page.get_by_role("link", name="Compare and merge").click()
    expect(page.locator("ins", has_text="now")).to_have_count(1)
    page.get_by_role("radio", name=f"#{newer.id}").check()
    page.get_by_role("button", name="Merge").click()
    page.get_by_text("Merged.").wait_for()
    assert access_observation(caller=editor.caller, observation_id=newer.id).tags == ["b", "a"]
    page.get_by_role("link", name="History").click()
    expect(page.get_by_text(f"merged from #{older.id}")).to_have_count(1)
    assert editor.submit(f"observations/{older.id}/restore").status_code == 302
    assert access_observation(caller=editor.caller, observation_id=older.id).tags == ["a"]


def test_a_merge_must_name_which_one_stays(editor):
    one = note(editor.caller, "One.").observation
    other = note(editor.caller, "Other.").observation
    path = f"observations/{one.id}/merge/{other.id}"
    assert editor.submit(path, keep="7").status_code == 422
    assert editor.open(f"observations/{one.id}/merge/{one.id}").status_code == 422
