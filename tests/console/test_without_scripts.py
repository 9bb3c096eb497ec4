"""Pages as they are read where scripts are switched off: whole, and without what only a script could do."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.conftest import PATIENCE
from tests.console.people import Person
from tests.console.test_bulk_job import asked
from tests.observations.notes import fill, note

MANY = 301


@pytest.fixture
def page(chromium: Browser, server: str, admin: Person) -> Iterator[Page]:
    context = chromium.new_context(
        base_url=server, java_script_enabled=False, viewport={"width": 360, "height": 740}
    )
    cookies = [{"name": one.name, "value": str(one.value), "url": server} for one in admin.http.cookies.jar]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


@pytest.mark.parametrize("path", ["", "jobs"])
def test_nothing_says_that_it_is_live(admin, page, browse, path):
    page.goto(admin.path(path))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for text in ("Live", "Pause updates"):
        expect(page.get_by_text(text, exact=True)).to_be_hidden()
    scripted = browse(admin)
    scripted.goto(admin.path(path))
    expect(scripted.get_by_text("Pause updates", exact=True)).to_be_visible()


def test_filters_unfold_and_a_search_goes_on(admin, page):
    fill(admin.caller, [f"Say {n}." for n in range(60)])
    page.goto(admin.path("observations"))
    expect(page.get_by_label("Project", exact=True)).to_be_hidden()
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Project", exact=True).fill("orders")
    page.get_by_label("Search by words or meaning").fill("say")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("60 hold every word, best first")
    expect(page.locator(".rows .title")).to_have_count(50)
    page.get_by_role("link", name="More").click()
    expect(page.locator(".rows .title")).to_have_count(10)


def test_a_deed_that_is_under_way_is_looked_at_again_by_hand(admin, page):
    fill(admin.caller, [f"Say {n}." for n in range(MANY)])
    note(admin.caller, "Else.", type="other")
    page.goto(admin.path() + asked(admin, deed="trash", type="t").split(admin.tenant.slug)[1])
    expect(page.get_by_role("status")).to_contain_text(f"0 of {MANY}")
    expect(page.get_by_role("link", name="Look again")).to_be_visible()
