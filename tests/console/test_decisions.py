"""Write decisions: seen by reason, confirmed, rejected."""

from playwright.sync_api import expect

from episodic.models import Episode
from ledger.models import WriteDecision
from tenants.models import Role
from tenants.scope import scope
from tests.console.injected import held_write
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless


def outcome(person, one):
    with scope(person.tenant.id):
        return WriteDecision.objects.get(tenant_id=person.tenant.id, id=one.id).outcome


def texts(person):
    with scope(person.tenant.id):
        return list(Episode.objects.filter(tenant_id=person.tenant.id).values_list("text", flat=True))


def test_an_editor_confirms_what_was_held(editor, browse, picture):
    held_write(editor.caller, "Ann prefers the quiet car.", reason="health")
    held_write(editor.caller, "My password is hunter2", outcome="skipped", reason="blocklist")
    page = browse(editor)
    page.goto(editor.path("decisions"))
    expect(page.locator(".bars li")).to_have_count(2)
    expect(page.locator("main")).not_to_contain_text("hunter2")
    picture(page, "decisions-list")
    page.get_by_role("link", name="Ann prefers the quiet car.").click()
    confirm = page.get_by_role("button", name="Confirm the write")
    expect(confirm).to_be_visible()
    picture(page, "decision-held")
    confirm.click()
    expect(page.locator("#messages")).to_contain_text("Confirmed")
    page.wait_for_load_state()
    expect(confirm).to_have_count(0)
    assert texts(editor) == ["Ann prefers the quiet car."]


def test_what_is_rejected_is_gone(editor):
    one = held_write(editor.caller, "Ann snores.")
    assert "dropped for good" in editor.open(f"decisions/{one.id}").text
    assert editor.submit(f"decisions/{one.id}/reject", at=f"decisions/{one.id}").status_code == 302
    assert outcome(editor, one) == "rejected"
    answer = editor.submit(f"decisions/{one.id}/confirm", at="")
    assert answer.status_code == 409
    assert texts(editor) == []


def test_what_was_not_kept_cannot_be_confirmed(editor):
    one = held_write(editor.caller, "My password is hunter2", outcome="skipped", reason="blocklist")
    assert "Confirm the write" not in editor.open(f"decisions/{one.id}").text
    assert editor.submit(f"decisions/{one.id}/confirm", at="").status_code == 409


def test_a_viewer_decides_nothing(person, editor):
    viewer = person(Role.VIEWER)
    one = held_write(editor.caller, "Ann snores.")
    assert "Editors can confirm" in viewer.open(f"decisions/{one.id}").text
    assert viewer.submit(f"decisions/{one.id}/confirm", at="").status_code == 403
    assert outcome(editor, one) == "held"


def test_decisions_are_filtered(editor):
    held_write(editor.caller, "Ann snores.")
    held_write(editor.caller, "Ann hums.", outcome="skipped", reason="low_confidence")
    held = editor.open("decisions", outcome="held").text
    assert "Ann snores." in held
    assert "Ann hums." not in held
    assert "Ann hums." in editor.open("decisions", reason="low_confidence", user="ann").text
    assert "No decision matches" in editor.open("decisions", agent="nobody").text
    assert editor.open("decisions", outcome="lost").status_code == 422


def test_hostile_words_are_shown_and_not_obeyed(editor, browse):
    one = held_write(editor.caller, HOSTILE)
    page = browse(editor)
    for path in ("decisions", f"decisions/{one.id}"):
        page.goto(editor.path(path))
        expect(page.locator("main")).to_contain_text("U+202E", use_inner_text=True)
        expect_harmless(page)
