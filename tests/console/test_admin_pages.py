"""The operator's own pages, as people see and use them."""

import re
from types import SimpleNamespace

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tenants.models import ApiKey, PolicyVersion, Tombstone
from tenants.policy.versions import Level, write_policy
from tenants.privacy.erasure import request_erasure
from tenants.router import admin_role
from tests.console.senses import COLOURS, expect_fits, violations
from tests.privacy.people import run_jobs
from tests.tenants.test_admin_site import admin, login, operator, visitor

__all__ = ["admin", "login", "operator", "visitor"]
# axe writes a sheet that another one imports, as one of Django's does, into the page: the policy refuses it,
# and what that one imports is sought in the wrong place. Without axe nothing is refused or missing.
AXE = ("Applying inline style", "status of 404")


@pytest.fixture
def addresses(acme) -> dict[str, str]:
    """The pages, on something that is there."""
    acme.http.post("/api/v1/episodes", json={"user_id": "ann", "text": "Ann likes email."}).raise_for_status()
    for number in (7, 8):
        changes = {"recall": {"top_k": number}}
        write_policy(level=Level(acme.tenant.id), actor="test", changes=changes, note="a try")
    officer = acme.with_key(scopes=("privacy",)).caller
    request_erasure(caller=officer, user_id="ann", now=timezone.now())
    run_jobs()
    with admin_role():
        key = ApiKey.objects.filter(tenant=acme.tenant).order_by("created_at").first()
        version = PolicyVersion.objects.get(tenant=acme.tenant, version=1)
        receipt = Tombstone.objects.get(tenant=acme.tenant)
    of = f"/admin/tenants/policyversion/of/{acme.tenant.id}"
    return {
        "key-new": "/admin/tenants/apikey/add/",
        "key-rotate": f"/admin/tenants/apikey/{key.id}/rotate/",
        "policy-edit": f"{of}/edit/",
        "retention": f"{of}/retention/",
        "policy-back": f"/admin/tenants/policyversion/{version.id}/bring-back/",
        "receipt": f"/admin/tenants/tombstone/{receipt.id}/change/",
        "person": f"/admin/tenants/tenant/{acme.tenant.id}/person/?user_id=ann",
    }


@pytest.fixture
def signed_in(admin):
    """As those who browse are given."""
    return SimpleNamespace(http=admin)


def looks(page: Page, addresses: dict[str, str], picture, suffix: str, **rules) -> None:
    for name, address in addresses.items():
        page.goto(address)
        expect(page.locator("#content h1")).to_be_visible()
        assert violations(page, **rules) == [], name
        picture(page, f"admin-{name}{suffix}")


def test_everybody_can_use_them_in_light_and_dark(signed_in, addresses, browse, picture):
    looks(browse(signed_in, allow=AXE), addresses, picture, "")
    looks(browse(signed_in, dark=True, allow=AXE), addresses, picture, "-dark", rules=COLOURS)


def test_they_fit_a_narrow_screen(signed_in, addresses, browse, picture):
    page = browse(signed_in, width=360)
    for name, address in addresses.items():
        page.goto(address)
        expect(page.locator("#content h1")).to_be_visible()
        expect_fits(page, 360)
        picture(page, f"admin-{name}-360")


def test_a_key_is_made_and_revoked(signed_in, acme, browse, picture):
    page = browse(signed_in, allow=AXE)
    page.goto("/admin/tenants/apikey/add/")
    page.get_by_label("Tenant").select_option(label=acme.tenant.slug)
    page.get_by_label("Name").fill("by hand")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("code.key")).to_have_text(re.compile("^mem_[0-9a-f]{16}_"))
    assert violations(page) == []
    picture(page, "admin-key-made")
    page.goto(f"/admin/tenants/apikey/?tenant={acme.tenant.slug}")
    page.locator("tr", has_text="by hand").locator("input.action-select").check()
    page.get_by_label("Action:").select_option("revoke")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    assert violations(page) == []
    picture(page, "admin-key-revoke")
    page.get_by_role("button", name="Revoke them").click()
    expect(page.get_by_text("1 revoked.")).to_be_visible()


def test_a_policy_is_written_and_brought_back(signed_in, acme, browse):
    page = browse(signed_in)
    for version, document in enumerate(('{"recall": {"top_k": 0}}', '{"recall": {"top_k": 7}}')):
        page.goto(f"/admin/tenants/policyversion/of/{acme.tenant.id}/edit/")
        page.get_by_label("Document").fill(document)
        page.get_by_role("button", name="Save a new version").click()
        told = "Version 1 is written." if version else "document.recall.top_k"
        expect(page.locator("#content, .messagelist").get_by_text(told).first).to_be_visible()
    page.goto(f"/admin/tenants/policyversion/of/{acme.tenant.id}/edit/")
    page.get_by_label("Document").fill("{}")
    page.get_by_role("button", name="Save a new version").click()
    expect(page.get_by_text("Version 2 is written.")).to_be_visible()
    page.goto(f"/admin/tenants/policyversion/?tenant={acme.tenant.slug}")
    page.locator("#result_list tbody tr").nth(1).get_by_role("link").first.click()
    page.get_by_role("link", name="Bring this version back").click()
    expect(page.get_by_text("what stands above it becomes 7")).to_be_visible()
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_text("Version 3 is written.")).to_be_visible()
