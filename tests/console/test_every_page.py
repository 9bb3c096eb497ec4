"""Every page in a browser: people with a screen reader, a keyboard, a telephone or a dark room can use it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from tenants.models import Role
from tests.conftest import make_member
from tests.console.conftest import Browsing
from tests.console.people import Person, signed_in
from tests.console.senses import COLOURS, expect_fits, shifts, violations
from tests.console.test_walls import CALLS, PAGES, address, make_caller
from tests.console.things import MAKERS

# Some 40 kB in a second, in pieces of a kilobyte or two: a telephone at the edge of its net.
SLOW_LINE = {"offline": False, "latency": 20, "downloadThroughput": 40_000, "uploadThroughput": 40_000}
SHOWN = [
    name
    for name, method in CALLS
    if method == "GET" and not getattr(PAGES[name].callback.view_class, "is_part", False)
]


@pytest.fixture(scope="module")
def admin(server: str) -> Person:
    return signed_in(make_member("acme", server).tenant, server, Role.ADMIN)


@pytest.fixture(scope="module")
def made(admin: Person) -> dict[str, Any]:
    caller = make_caller(admin)
    return {name: make(caller) for name, make in MAKERS.items()}


@pytest.fixture(scope="module")
def browsing(chromium: Browser, server: str) -> Iterator[Browsing]:
    browsing = Browsing(chromium, server)
    yield browsing
    browsing.end()


@pytest.fixture(scope="module")
def window(browsing: Browsing, admin: Person) -> Page:
    """One for all pages, as people have: opening another for each takes as long as a page does, and so does
    handing axe over to each."""
    page = browsing.begin(admin)
    page.add_init_script(AXE_SCRIPT)
    return page


@pytest.fixture
def page(browsing: Browsing, window: Page) -> Iterator[Page]:
    yield window
    wrong, browsing.errors = browsing.errors, []
    assert wrong == []


@pytest.fixture(scope="module")
def slow_window(browsing: Browsing, admin: Person) -> Page:
    page = browsing.begin(admin)
    page.goto(admin.path())  # the stylesheet and the scripts are kept from here on
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW_LINE)
    return page


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_serves_everybody(
    name: str, admin: Person, made: dict[str, Any], page: Page, picture: Callable
):
    """In the dark it is colours alone that change (the stylesheet sets nothing else by the scheme), so there
    only the rules about colours are looked at again; a narrow screen lays all of it out anew."""
    path = address(name, admin.tenant.slug, made)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(path)
    expect(page).to_have_title(re.compile(rf"^((?! · ).)*\S · {admin.tenant.slug} · Strata$"))
    assert violations(page) == []
    assert shifts(page) == []
    picture(page, name)
    page.emulate_media(color_scheme="dark")
    assert violations(page, rules=COLOURS) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(path)
    assert violations(page) == []
    assert shifts(page) == []
    expect_fits(page, 360)


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_being_read_stays_in_its_place_while_the_rest_comes_in(
    name: str, admin: Person, made: dict[str, Any], slow_window: Page
):
    slow_window.goto(address(name, admin.tenant.slug, made))
    assert shifts(slow_window) == []


def test_the_keyboard_reaches_the_content_first(admin: Person, browse: Callable):
    page = browse(admin)
    page.goto(admin.path())
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
