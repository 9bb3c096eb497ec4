"""What cannot be had is told among the pages of the tenant, with a way back."""

from collections.abc import Callable
from uuid import uuid4

from playwright.sync_api import Page, expect

from tenants.models import Role
from tests.conftest import Member
from tests.console.people import Person
from tests.console.senses import expect_fits, violations


def expect_framed(page: Page, tenant: str, heading: str) -> None:
    expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page.get_by_role("link", name="Overview").first).to_have_attribute("href", f"/console/{tenant}")
    assert violations(page) == []


def test_what_is_not_there_leads_back_to_its_list(
    editor: Person, browse: Callable[..., Page], picture: Callable
):
    page = browse(editor, allow=("404",))
    page.goto(editor.path(f"episodes/{uuid4()}"))
    expect_framed(page, editor.tenant.slug, "Not found")
    picture(page, "refused-404")
    page.get_by_role("link", name="Back to Episodes").click()
    expect(page).to_have_url(
        f"{editor.http.base_url}{editor.path('episodes')}".replace("//console", "/console")
    )


def test_what_the_role_does_not_allow_is_told_with_the_menu_of_that_role(
    person: Callable[..., Person], browse: Callable[..., Page], picture: Callable
):
    viewer = person(Role.VIEWER)
    page = browse(viewer, allow=("403",))
    page.goto(viewer.path("keys"))
    expect_framed(page, viewer.tenant.slug, "Not allowed")
    expect(page.get_by_role("link", name="Back to")).to_have_count(0)
    page.set_viewport_size({"width": 360, "height": 740})
    expect_fits(page, 360)
    picture(page, "refused-403-360")


def test_an_address_that_only_takes_forms_says_so(admin: Person):
    keys = admin.open("keys")
    assert keys.status_code == 200
    answer = admin.open("privacy/export")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "only takes a form" in answer.text
    assert "Overview" in answer.text


def test_a_stranger_learns_no_tenants_frame(editor: Person, globex: Member):
    answer = editor.http.get(f"/console/{globex.tenant.slug}/episodes")
    assert answer.status_code == 404
    assert 'aria-label="Pages"' not in answer.text
    assert "To the console" in answer.text
