"""An observation that was attributed to the wrong person is corrected by an admin."""

import pytest
from playwright.sync_api import expect

from observations.observations import access_observation
from tenants.audit import list_entries
from tests.console.remembered import HOSTILE
from tests.console.senses import violations
from tests.observations.notes import edit, note


@pytest.fixture
def one(admin):
    return note(admin.caller, "Likes the night train.", title="Trains", user_id="ann").observation


def whose(person, one):
    found = access_observation(caller=person.caller, observation_id=one.id)
    return found.user_id, found.agent_id


def test_an_admin_corrects_whose_it_is(admin, one, browse, picture):
    page = browse(admin)
    page.goto(admin.path(f"observations/{one.id}"))
    page.get_by_role("link", name="Correct whose it is").click()
    expect(page.locator("main")).to_contain_text("no longer for ann", use_inner_text=True)
    picture(page, "observation-reassign")
    assert violations(page) == []
    page.get_by_label("Person").fill("bob")
    page.get_by_label("Agent").fill("pilot")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Whose it is was corrected").wait_for()
    assert whose(admin, one) == ("bob", "pilot")
    assert "memory.reassign" in [entry.action for entry in list_entries(caller=admin.caller, limit=20)]


def test_an_editor_does_not(editor, one):
    assert "Correct whose it is" not in editor.open(f"observations/{one.id}").text
    assert editor.open(f"observations/{one.id}/reassign").status_code == 403


def test_a_taken_topic_and_a_change_meanwhile_are_said(admin):
    mine = note(admin.caller, "Hers.", user_id="ann", topic_key="t").observation
    note(admin.caller, "His.", user_id="bob", topic_key="t")
    place, seen = f"observations/{mine.id}/reassign", mine.updated_at.isoformat(timespec="microseconds")
    taken = admin.submit(place, user="bob", seen=seen)
    assert (taken.status_code, "another observation with its topic key" in taken.text) == (409, True)
    edit(admin.caller, mine.id, content="Hers, and longer.")
    assert admin.submit(place, user="eve", seen=seen).status_code == 412
    assert admin.submit(place, user="eve", seen="never").status_code == 422
    assert whose(admin, mine) == ("ann", "")


def test_odd_names_are_kept_and_shown_as_they_are(admin, one):
    seen = one.updated_at.isoformat(timespec="microseconds")
    assert admin.submit(f"observations/{one.id}/reassign", user=HOSTILE[:200], seen=seen).status_code == 302
    page = admin.open(f"observations/{one.id}/reassign").text
    assert "<script>alert" not in page
    assert "U+202E" in page
