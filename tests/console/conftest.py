"""Signed-in people, and a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tenants.models import Role
from tests.conftest import Member
from tests.console.people import Person, signed_in

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PICTURES = Path(__file__).resolve().parent.parent / "artifacts" / "console"
# In ms, until what a page should show or do counts as missing: a limit, for slow machines run this too.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture
def person(acme: Member, server: str) -> Callable[..., Person]:
    """`person(role)`: a new member of acme in that role."""
    return lambda role=Role.ADMIN: signed_in(acme.tenant, server, role)


@pytest.fixture
def editor(acme: Member, server: str) -> Person:
    return signed_in(acme.tenant, server, Role.EDITOR)


@pytest.fixture
def admin(acme: Member, server: str) -> Person:
    return signed_in(acme.tenant, server, Role.ADMIN)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Where `REQUIRE_CHROMIUM` is set, as in CI, its absence is a failure. Of a module: its event loop is
    this thread's until it is closed, and other tests have their own."""
    if CHROMIUM is None:
        assert not os.environ.get("REQUIRE_CHROMIUM"), "no Chromium to drive the pages with"
        pytest.skip("no Chromium")
    # Its event loop stands still in this thread while the tests ask Django here.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


# What htmx says of a request under way when its page is left. One that fails is told by the browser as well.
LEFT = ("htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")


class Browsing:
    """Pages of the browser, and what went wrong in them: errors that a page logs, such as a refusal by its
    Content-Security-Policy, and whatever it asks of others."""

    def __init__(self, chromium: Browser, server: str) -> None:
        self.chromium, self.server = chromium, server
        self.errors: list[str] = []
        self._contexts: list[BrowserContext] = []

    def begin(
        self, person: Person, *, dark: bool = False, width: int = 1280, allow: tuple[str, ...] = ()
    ) -> Page:
        context = self.chromium.new_context(
            base_url=self.server,
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": 900},
        )
        self._contexts.append(context)
        cookies = person.http.cookies.jar
        context.add_cookies([{"name": one.name, "value": one.value, "url": self.server} for one in cookies])
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(2 * PATIENCE)
        page.on("console", lambda message: self._note(message, allow))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._watch)
        return page

    def end(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, message: ConsoleMessage, allow: tuple[str, ...]) -> None:
        if message.type == "error" and not any(word in message.text for word in (*allow, *LEFT)):
            self.errors.append(message.text)

    def _watch(self, asked: Request) -> None:
        if not asked.url.startswith((self.server, "data:")):
            self.errors.append(asked.url)


@pytest.fixture
def browse(chromium: Browser, server: str) -> Iterator[Callable[..., Page]]:
    """`browse(person, dark=False, width=1280, allow=())`: a page of the browser, signed in as the person. The
    test fails when something goes wrong in it."""
    browsing = Browsing(chromium, server)
    yield browsing.begin
    browsing.end()
    assert browsing.errors == []


@pytest.fixture
def picture() -> Callable[[Page, str], None]:
    """Keeps a picture of the whole page among the test run's artifacts. After a click, wait for something of
    the page that it leads to first."""
    PICTURES.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> None:
        page.wait_for_load_state()
        page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    return take
