"""Whom the memory is about, and what came in of each when."""

import re
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tenants.models import Role
from tenants.restrictions import restrict_subject
from tests.console.remembered import HOSTILE, ODD, episode, slot, talk, tell, turn, waiting
from tests.console.senses import violations
from tests.observations.notes import note


def test_people_are_found_by_how_their_ids_begin(editor):
    for user in ("ann", "anna", "bob"):
        episode(editor.caller, f"about {user}", user_id=user)
    assert re.findall(r'class="title"[^>]*><bdi>([^<]*)<', editor.open("people", q="ann").text) == [
        "ann",
        "anna",
    ]
    assert "No user id begins like that" in editor.open("people", q="zoe").text


def test_the_list_of_people_goes_on(editor):
    for number in range(52):
        episode(editor.caller, "x", user_id=f"u{number:02}")
    more = re.search(r'<a href="\?([^"]+)">More', editor.open("people").text).group(1).replace("&amp;", "&")
    assert "u51" in editor.http.get(f"{editor.path('people')}?{more}").text


@pytest.mark.parametrize("user", [ODD, HOSTILE, "x" * 255, " ", "..", "%"])
def test_a_person_may_be_called_anything(editor, user):
    episode(editor.caller, f"About one {HOSTILE}", user_id=user)
    slot(editor.caller, HOSTILE, user=user)
    assert quote(user, safe="") in editor.open("people").text
    page = editor.open("person", user=user)
    assert page.status_code == 200
    assert "About one" in page.text
    assert not re.search(r"<(script>alert|svg onload|img src=x)", page.text)


def test_a_persons_page_holds_everything_in_one_stream(editor, browse, picture):
    slot(editor.caller, "Rome", user="ann")
    slot(editor.caller, "Oslo", user="ann")
    waiting(editor.caller, "ann@example.com")
    one = episode(editor.caller, "Ann moved to Oslo.", user_id="ann")
    session = talk(editor.caller, turn("user", "Where do I live?"), session="talk", user="ann")
    tell(editor.caller, session, query="Where do I live?", episode=str(one.id))
    note(editor.caller, "Ann reviews slowly.", title="Reviews", user_id="ann", session_id="talk")
    page = browse(editor)
    page.goto(editor.path("people"))
    page.get_by_role("link", name="ann", exact=True).click()
    told = ["Reviews", "talk", "Ann moved to Oslo.", "email: ann@example.com", "city: Oslo", "city: Rome"]
    stream = page.locator("ol.timeline > li")
    expect(stream).to_have_count(len(told))
    expect(stream).to_contain_text(told)  # each its own, in this order
    picture(page, "person-known")
    assert violations(page) == []
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("Confirmed: it holds from now on.").wait_for()


def test_the_stream_goes_on_without_gaps(editor):
    for number in range(60):
        episode(editor.caller, f"thing {number}.", user_id="ann")
    seen, query = [], f"user={quote('ann')}"
    while query:
        page = editor.http.get(f"{editor.path('person')}?{query}").text
        seen += re.findall(r"thing (\d+)\.", page)
        more = re.search(r'<a href="\?([^"]+)">Earlier', page)
        query = more.group(1).replace("&amp;", "&") if more else ""
    assert [int(one) for one in seen] == list(range(59, -1, -1))
    assert editor.open("person", user="ann", after="nonsense").status_code == 422


def test_what_is_restricted_is_shown_to_privacy_officers_alone(person, editor):
    episode(editor.caller, "Ann is ill.", user_id="ann")
    slot(editor.caller, "secret city", user="ann")
    officer = person(Role.PRIVACY_OFFICER)
    restrict_subject(caller=officer.caller, user_id="ann", reason="dispute", now=timezone.now())
    hidden, shown = editor.open("person", user="ann"), officer.open("person", user="ann")
    assert ("Ann is ill." in hidden.text, "secret city" in hidden.text) == (False, False)
    assert "Privacy officers see it" in hidden.text
    assert ("Ann is ill." in shown.text, "secret city" in shown.text) == (True, True)


def test_nobodys_page_is_the_list(editor):
    assert editor.open("person").headers["location"].endswith("/people")
    assert editor.open("person", user="x" * 256).status_code == 302
    assert "Nothing is remembered of this person" in editor.open("person", user="nobody").text


def test_of_what_was_deleted_since_its_use_is_told_and_no_number(editor):
    gone, session = str(uuid4()), talk(editor.caller, turn("user", "x"), session="talk", user="ann")
    tell(editor.caller, session, query="x", entity=gone, skill="boats")
    page = editor.open("person", user="ann").text
    assert "deleted since" in page
    assert gone not in page
    assert "boats" in page
