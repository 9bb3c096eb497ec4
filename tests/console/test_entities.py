"""Slots by hand: confirmed, rejected, edited, pinned, taken back, deleted, read as of a moment."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from episodic.entities import access_entity, list_history
from tenants.errors import NotFound
from tenants.models import AuditEntry
from tenants.scope import scope
from tests.console.remembered import HOSTILE, ODD, slot, waiting
from tests.console.senses import violations


def held(person, key="city", user="ann"):
    return access_entity(caller=person.caller, user_id=user, key=key).value


def keys(page):
    return re.findall(r'class="title"[^>]*><bdi>([^<]*)<', page.text)


def test_slots_are_listed_by_person_key_status_and_moment(editor):
    slot(editor.caller, "Rome")
    moment = timezone.now()
    slot(editor.caller, "Oslo")
    slot(editor.caller, 42, key="age", user="bob")
    assert keys(editor.open("entities")) == ["age", "city"]
    assert keys(editor.open("entities", user="bob")) == ["age"]
    assert keys(editor.open("entities", key="City")) == ["city"]
    then = editor.open("entities", as_of=moment.replace(tzinfo=None).isoformat(), key="city")
    assert ("Rome" in then.text, "Oslo" in then.text) == (True, False)
    past = editor.open("entities", status="superseded")
    assert ("Rome" in past.text, "Oslo" in past.text) == (True, False)
    assert keys(editor.open("entities", q="where does she live", user="ann")) == ["city"]
    for nonsense in ({"q": "live"}, {"key": "a/b"}, {"status": "odd"}, {"as_of": "soon"}):
        assert editor.open("entities", **nonsense).status_code == 422


def test_what_waits_is_confirmed_in_the_browser(editor, browse, picture):
    slot(editor.caller, "old@example.com", key="email")
    waiting(editor.caller, "new@example.com")
    page = browse(editor)
    page.goto(editor.path("entities"))
    page.get_by_role("link", name="Waiting").click()
    expect(page).to_have_url(editor.path("entities") + "?status=pending")
    page.get_by_role("link", name="email").click()
    expect(page.get_by_role("button", name="Confirm")).to_be_visible()
    picture(page, "entity-waiting")
    assert violations(page) == []
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("Confirmed: it holds from now on.").wait_for()
    expect(page.locator(".timeline > li").nth(1)).to_be_visible()
    assert held(editor, "email") == "new@example.com"


def test_what_is_rejected_never_holds(editor):
    made = slot(editor.caller, "old@example.com", key="email")
    value = waiting(editor.caller, "new@example.com")
    decide = {"rest": f"entities/{made}/decide", "at": f"entities/{made}"}
    assert editor.submit(**decide, how="reject", value=str(made)).status_code == 409
    assert editor.submit(**decide, how="reject", value=str(value)).status_code == 302
    assert held(editor, "email") == "old@example.com"
    rejected = next(
        row
        for row in list_history(caller=editor.caller, user_id="ann", key="email", limit=9)
        if row.id == value
    )
    assert (rejected.status, rejected.valid_to) == ("retracted", rejected.valid_from)
    assert editor.submit(**decide, how="reject", value=str(value)).status_code == 409


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("text", "Oslo\r\nin Norway", "Oslo\nin Norway"),
        ("json", '{"a": [1, null]}', {"a": [1, None]}),
        ("json", "null", None),
        ("text", "42", "42"),
    ],
)
def test_a_slot_is_given_another_value(editor, kind, text, value):
    made = slot(editor.caller, "Rome")
    assert editor.submit(f"entities/{made}/edit", kind=kind, text=text).status_code == 302
    assert held(editor) == value
    assert list_history(caller=editor.caller, user_id="ann", key="city", limit=9)[0].source == "console"
    assert "Rome" in editor.open(f"entities/{made}").text


def test_a_value_that_is_none_is_told_in_the_form(editor):
    made = slot(editor.caller, "Rome")
    for fields in (
        {"kind": "json", "text": "{"},
        {"kind": "json", "text": "NaN"},
        {"kind": "json", "text": "[" * 200 + "]" * 200},
        {"kind": "json", "text": '"\\u0000"'},
        {"kind": "json", "text": '"\\ud800"'},
        {"kind": "text", "text": "\u200b \u2060"},
        {"kind": "text", "text": " "},
        {},
    ):
        assert editor.submit(f"entities/{made}/edit", **fields).status_code == 422
    bad_key = editor.submit("entities/new", user="ann", key="a/b", kind="text", text="x")
    assert (bad_key.status_code, "slash" in bad_key.text) == (422, True)


def test_a_slot_is_written_for_somebody_with_an_odd_name(editor):
    answer = editor.submit("entities/new", user=ODD, key="City of birth", kind="text", text="Rome")
    assert answer.status_code == 302
    assert held(editor, "city_of_birth", ODD) == "Rome"
    page = editor.http.get(answer.headers["location"])
    assert "user=a%2Fb%20c%3Fd%23e%252F%E2%80%AEf" in page.text


def test_a_pin_is_set_and_taken_away(editor):
    made = slot(editor.caller, "Rome")
    editor.submit(f"entities/{made}/pin", at=f"entities/{made}", on="1")
    assert access_entity(caller=editor.caller, user_id="ann", key="city").pinned_at
    editor.submit(f"entities/{made}/pin", at=f"entities/{made}")
    assert not access_entity(caller=editor.caller, user_id="ann", key="city").pinned_at


def test_a_slot_is_taken_back_or_removed_with_its_history(editor):
    made = slot(editor.caller, "Rome")
    assert editor.submit(f"entities/{made}/delete").status_code == 422
    editor.submit(f"entities/{made}/delete", how="retract")
    with pytest.raises(NotFound):
        held(editor)
    assert "Rome" in editor.open(f"entities/{made}").text
    assert editor.submit(f"entities/{made}/delete", how="for_good").status_code == 302
    assert editor.open(f"entities/{made}").status_code == 404
    with scope(editor.caller.tenant_id):
        (entry,) = AuditEntry.objects.filter(action="entity.delete")
    assert "ann" not in f"{entry.target} {entry.details}"


@pytest.mark.parametrize("value", [HOSTILE, {"<b>": [HOSTILE] * 3}, "x" * 4_000])
def test_a_value_is_shown_and_not_obeyed(editor, value):
    made = slot(editor.caller, value, key="<i>note</i>".replace("/", ""))
    for page in (
        editor.open("entities"),
        editor.open(f"entities/{made}"),
        editor.open(f"entities/{made}/edit"),
    ):
        assert page.status_code == 200
        assert not re.search(r"<(script>alert|svg onload|b>|i>|img src=x)", page.text)
