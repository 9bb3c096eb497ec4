"""The pages outside of a tenant keep to the same policy: nothing inline, nothing from third parties."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tenants.models import Member
from tenants.router import admin_role
from tests.console.people import Person
from tests.console.senses import expect_fits, violations

OURS = ["/", "/sign-in", "/me/"]


@pytest.fixture
def operator(admin: Person) -> Person:
    """The person may also enter Django's admin."""
    with admin_role():
        admin.user.is_staff = admin.user.is_superuser = True
        admin.user.save()
    return admin


@pytest.mark.parametrize("path", [*OURS, "/console/?choose=1"])
def test_a_page_of_ours_serves_everybody(path: str, admin: Person, browse: Callable[..., Page]):
    page = browse(admin, allow=("401",))
    page.goto(path)
    expect(page).to_have_title(re.compile(r"^((?! · ).)*\S · Strata$"))
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    expect_fits(page, 360)


def test_the_pages_of_the_admin_work_under_our_policy(operator: Person, browse: Callable[..., Page]):
    page = browse(operator)
    for path in ("/admin/", "/admin/tenants/tenant/", "/admin/tenants/apikey/"):
        page.goto(path)
        expect(page).to_have_title(re.compile("Strata|Django|admin"))
        expect(page.get_by_role("link", name="Tenants", exact=True).first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 360])
def test_the_api_can_be_tried_in_its_page(width: int, operator: Person, browse: Callable[..., Page]):
    page = browse(operator, width=width)
    page.goto("/api/docs/")
    expect(page).to_have_title("API · Strata")
    expect(page.locator(".opblock-summary").last).to_be_visible()
    assert violations(page) == []
    for method in ("post", "get"):  # it draws what is near the screen only
        control = page.locator(f".opblock-{method} .opblock-summary-control").first
        control.click()
        expect(page.locator(f".opblock-{method} .opblock-body").first).to_be_visible()
        assert violations(page) == []
        expect_fits(page, width)
        control.click()


@pytest.fixture
def stranger(admin: Person) -> Person:
    """A member of nothing any more."""
    with admin_role():
        Member.objects.filter(user=admin.user).delete()
    return admin


def test_who_has_no_tenant_is_told_under_which_name_to_be_added(
    stranger: Person, browse: Callable[..., Page], picture: Callable
):
    page = browse(stranger)
    page.goto("/console/")
    expect(page.get_by_text("is a member of no tenant yet")).to_contain_text(stranger.user.username)
    expect(page.get_by_role("link", name="in the admin")).to_have_count(0)
    assert violations(page) == []
    picture(page, "no-tenant")


def test_who_may_not_enter_the_admin_is_told_so_where_they_sign_in(
    admin: Person, browse: Callable[..., Page], picture: Callable
):
    page = browse(admin)
    page.goto("/admin/")
    expect(page.get_by_text("may not open the page that you came from")).to_contain_text(admin.user.username)
    assert violations(page) == []
    picture(page, "sign-in-as-another")


def test_a_wrong_password_and_a_form_without_its_token_are_told_plainly(
    browse: Callable[..., Page], admin: Person, picture: Callable
):
    page = browse(admin, width=360, allow=("422", "403"))
    page.context.clear_cookies()
    page.goto("/sign-in")
    page.get_by_label("Username").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("correct username and password")
    assert violations(page) == []
    picture(page, "sign-in-wrong")
    page.context.clear_cookies()
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="The form was not sent")).to_be_visible()
    expect(page.get_by_role("link", name="To the console")).to_be_visible()
    assert violations(page) == []
    expect_fits(page, 360)
    picture(page, "form-not-sent")
