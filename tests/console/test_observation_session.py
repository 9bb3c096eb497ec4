"""An observation's session is one of the fields that an editor changes."""

from playwright.sync_api import expect

from tenants.audit import list_entries
from tests.console.remembered import HOSTILE
from tests.observations.notes import note, row_of


def test_an_editor_corrects_the_session_and_is_told_of_a_wrong_one(editor, browse, picture):
    note(editor.caller, "Hers as well.", session_id="s2", user_id="ann")
    note(editor.caller, "His.", session_id="of-bob", user_id="bob")
    one = note(editor.caller, "Likes trains.", session_id="s1", user_id="ann").observation
    page = browse(editor, allow=("422",))
    page.goto(editor.path(f"observations/{one.id}/edit"))
    page.get_by_label("Session").fill("of-bob")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#id_session_id_error")).to_contain_text("no session of the same person")
    picture(page, "observation-edit-session")
    page.get_by_label("Session").fill("s2")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Changed.")).to_be_visible()
    assert row_of(editor.caller, one.id).session == "s2"
    entry = next(
        one for one in list_entries(caller=editor.caller, limit=5) if one.action == "observation.edit"
    )
    assert entry.details["fields"] == ["session"]


def test_an_emptied_one_is_cleared_and_one_that_is_not_sent_stays(editor):
    one = note(editor.caller, "Likes trains.", session_id="s1").observation
    said = {"title": "T", "type": "t", "content": "Likes trains.", "project": "orders"}
    place = f"observations/{one.id}/edit"
    assert editor.submit(place, **said).status_code == 302
    assert row_of(editor.caller, one.id).session == "s1"
    refused = editor.submit(place, **said, session_id=HOSTILE)
    assert (refused.status_code, "<script>alert" in refused.text) == (422, False)
    assert editor.submit(place, **said, session_id="").status_code == 302
    assert row_of(editor.caller, one.id).session == ""
