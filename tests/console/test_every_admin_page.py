"""Every page of the admin that a superuser reaches, by its own table of models: a new one cannot be
forgotten."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.contrib import admin as site
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from tenants.models import Tenant
from tenants.router import admin_role
from tests.conftest import make_member
from tests.console.conftest import Browsing
from tests.console.people import Person, signed_in
from tests.console.senses import COLOURS, expect_fits, violations
from tests.console.test_admin_pages import AXE
from tests.isolation.tables import FACTORIES, store

MODELS = sorted(site.site._registry, key=lambda one: one._meta.label)
KINDS = ("changelist", "add", "change")
PAGES = [(model, kind) for model in MODELS for kind in KINDS]
PAGES += [(User, "history"), (User, "delete"), (User, "password_change")]  # which look alike for all models
LINK = re.compile(r'<a [^>]*href="([^"#]+)"')
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/)\d+(?=/)")


@pytest.fixture(scope="module")
def operator(server: str) -> Person:
    """A superuser."""
    person = signed_in(make_member("acme", server).tenant, server)
    with admin_role():
        person.user.is_staff = person.user.is_superuser = True
        person.user.save()
    return person


@pytest.fixture(scope="module")
def rows(operator: Person) -> dict[type[Model], Any]:
    """The id of something of each model."""
    made: dict[type[Model], Any] = {Tenant: operator.tenant.id, User: operator.user.id}
    with admin_role():
        made[Group] = Group.objects.create(name=f"clerks of {operator.tenant.slug}").id
    for model in MODELS:
        if model not in made:
            made[model] = store(FACTORIES[model](operator.tenant.id)).pk
    return made


@pytest.fixture(scope="module")
def browsing(chromium: Browser, server: str) -> Iterator[Browsing]:
    browsing = Browsing(chromium, server)
    yield browsing
    browsing.end()


@pytest.fixture(scope="module")
def window(browsing: Browsing, operator: Person) -> Page:
    page = browsing.begin(operator, allow=(*AXE, "status of 403"))
    page.add_init_script(AXE_SCRIPT)
    return page


@pytest.fixture
def page(browsing: Browsing, window: Page) -> Iterator[Page]:
    yield window
    wrong, browsing.errors = browsing.errors, []
    assert wrong == []


def address(model: type[Model], kind: str, rows: dict[type[Model], Any]) -> str:
    """`password_change` is a page of accounts alone."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_{kind}"
    return reverse(name, args=[] if kind in {"changelist", "add"} else [rows[model]])


@pytest.mark.parametrize(
    ("model", "kind"), PAGES, ids=lambda one: one if isinstance(one, str) else one.__name__
)
def test_a_page_serves_everybody(model, kind, operator, rows, page, picture):
    path = address(model, kind, rows)
    refused = operator.http.get(path).status_code == 403
    assert not (refused and kind in {"changelist", "change"}), "nobody could look at it"
    if refused:
        return  # nothing leads there, as the next test sees
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path)
        expect(page).to_have_title(re.compile(r"\S · Strata$"))
        assert violations(page) == []
    expect_fits(page, 360)
    picture(page, f"admin-{model._meta.model_name}-{kind}-360")
    page.emulate_media(color_scheme="dark")
    page.goto(path)  # anew, as some of its colours change slowly
    assert violations(page, rules=COLOURS) == []
    page.emulate_media(color_scheme="light")


def test_every_link_leads_to_a_page(operator, rows):
    """One of each kind of address, beginning with the pages above."""
    ways = [
        "/admin/",
        *(address(model, kind, rows) for model, kind in PAGES if kind in {"changelist", "change"}),
    ]
    seen: set[str] = set()
    while ways:
        path = ways.pop()
        if (shape := ID.sub("", path.partition("?")[0])) in seen:
            continue
        seen.add(shape)
        answer = operator.http.get(path)
        assert answer.status_code == 200, path
        if answer.headers["content-type"].startswith("text/html"):
            found = (urljoin(path, one.replace("&amp;", "&")) for one in LINK.findall(answer.text))
            ways += [one for one in found if urlsplit(one).path.startswith("/admin/")]
    assert "/admin/tenants/policyversion/add/" in seen


def test_the_links_of_a_tenant_say_where_they_lead(operator, page):
    page.goto(address(Tenant, "change", {Tenant: operator.tenant.id}))
    for name in (
        "API keys",
        "Versions of its policy",
        "Receipts of erasures",
        "Restricted people",
        "Audit log",
    ):
        expect(page.locator(".readonly").get_by_role("link", name=name, exact=True)).to_be_visible()
