"""The links to a person's own page, made and revoked; whom to look at, suggested as one types."""

import re

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import expect

from episodic.episodes import store_episode
from episodic.types import NewEpisode
from tenants.audit import list_entries
from tests.console.people import Person
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_fits, shifts, violations

LINK = re.compile(r"http[^<\s]+/me/enter/[A-Za-z0-9_.=-]+")


@pytest.fixture
def officer(person) -> Person:
    return person("privacy_officer")


def remember(person: Person, *users: str) -> None:
    for user in users:
        new = NewEpisode(text=f"About {user}.", user_id=user)
        store_episode(caller=person.caller, new=new, now=timezone.now())


def link(officer: Person, user: str = "ann") -> str:
    return LINK.search(officer.submit("privacy/link", at="privacy", user=user).text).group()


def works(url: str) -> bool:
    return httpx.get(url).status_code == 302


def test_all_links_of_a_person_are_revoked(officer, browse, picture):
    links, other = [link(officer), link(officer)], link(officer, "bob")
    page = browse(officer)
    page.goto(officer.path("privacy") + "?user=ann")
    page.get_by_role("link", name="Revoke all links").click()
    expect(page.get_by_role("heading", name="Revoke all links of ann")).to_be_visible()
    expect(page.get_by_text("2 links to this person's own page still work, the last until")).to_be_visible()
    expect(page.get_by_text("Links of this person were never revoked.")).to_be_visible()
    assert violations(page) == []
    picture(page, "privacy-links-revoke-two")
    page.set_viewport_size({"width": 360, "height": 740})
    expect_fits(page, 360)
    assert violations(page) == []
    picture(page, "privacy-links-revoke-narrow")
    assert all(map(works, links))
    page.get_by_role("button", name="Revoke all links").click()
    expect(page.get_by_text("Every link that was made so far is void")).to_be_visible()
    picture(page, "privacy-links-revoked")
    assert not any(map(works, links))
    assert works(other)
    assert works(link(officer))
    entry = next(one for one in list_entries(caller=officer.caller, limit=9) if "revoke" in one.action)
    assert (entry.action, entry.actor) == ("subject.link.revoke", officer.caller.principal)


def test_the_page_says_how_little_there_is_to_revoke(officer):
    shown = officer.open("privacy/links/revoke", user="ann").text
    assert "No link to this person's own page works now." in shown
    assert officer.open("privacy/links/revoke").status_code == 302
    link(officer)
    shown = officer.open("privacy/links/revoke", user="ann").text
    assert "1 link to this person's own page still works, until" in shown
    for user in ("", "x" * 300, "a\0b"):
        assert officer.submit("privacy/links/revoke", at="privacy", user=user).status_code == 422


def test_an_id_of_any_characters_is_shown_and_obeyed_nowhere(officer):
    user = HOSTILE[:200]
    url = link(officer, user)
    page = officer.open("privacy/links/revoke", user=user)
    assert page.status_code == 200
    assert not re.search(r"<(script>alert|svg onload|img src=x)", page.text)
    officer.submit("privacy/links/revoke", at="privacy", user=user)
    assert not works(url)


def test_whoever_may_not_see_to_privacy_revokes_nothing(officer, editor):
    url = link(officer)
    assert editor.open("privacy/links/revoke", user="ann").status_code == 403
    assert editor.submit("privacy/links/revoke", at="", user="ann").status_code == 403
    assert works(url)


def test_people_are_suggested_as_one_types(officer, editor, browse, picture):
    remember(editor, "ann", "annabel", "bob", HOSTILE[:200])
    page = browse(officer, width=360)
    page.goto(officer.path("privacy"))
    field = page.get_by_label("Person (user id)")
    options = page.locator("#people option")
    field.press_sequentially("an")
    expect(options).to_have_count(2)
    assert options.evaluate_all("all => all.map((one) => one.value)") == ["ann", "annabel"]
    assert violations(page) == []
    assert shifts(page) == []
    picture(page, "privacy-suggested")
    field.fill("<")
    expect(options).to_have_count(1)
    assert options.first.get_attribute("value") == HOSTILE[:200]
    field.fill("zoe")
    expect(options).to_have_count(0)
    field.fill("annabel")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="annabel")).to_be_visible()


def test_without_scripts_it_is_a_plain_field(officer, editor):
    remember(editor, "ann")
    page = officer.open("privacy").text
    assert re.search(r'<form class="filters" method="get">', page)
    assert officer.open("privacy", user="nobody yet").status_code == 200


@pytest.mark.parametrize("typed", ["", "a\0b", "x" * 300, "zoe"])
def test_what_nobody_is_called_suggests_nobody(officer, editor, typed):
    remember(editor, "ann")
    answer = officer.open("people/names", user=typed)
    assert (answer.status_code, answer.text.strip()) == (200, "")
