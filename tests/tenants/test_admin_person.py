"""An operator sees to a person's rights, in any tenant."""

import re

import httpx
import pytest

from tenants.models import AuditEntry, Job, Restriction, Tombstone
from tenants.router import admin_role
from tests.conftest import Member
from tests.privacy.people import run_jobs
from tests.tenants.test_admin_site import admin, form_token, login, operator, visitor

__all__ = ["admin", "login", "operator", "visitor"]


@pytest.fixture
def page(acme: Member) -> str:
    acme.http.post("/api/v1/episodes", json={"user_id": "ann", "text": "Ann likes email."}).raise_for_status()
    return f"/admin/tenants/tenant/{acme.tenant.id}/person/"


def do(admin: httpx.Client, page: str, deed: str, **fields: str) -> httpx.Response:
    token = form_token(admin.get(page, params={"user_id": "ann"}))
    data = {"csrfmiddlewaretoken": token, "user_id": "ann", "deed": deed, **fields}
    return admin.post(page, data=data, follow_redirects=True)


def test_what_there_is_of_a_person_is_shown(admin, page):
    shown = admin.get(page, params={"user_id": "ann"}).text
    assert re.search(r">episode</th><td>1<", shown)


def test_a_person_is_erased_only_when_the_id_was_typed_twice(admin, page, acme):
    assert "type the user id once more" in do(admin, page, "erase", confirmation="bob").text
    with admin_role():
        assert not Tombstone.objects.filter(tenant=acme.tenant).exists()
    do(admin, page, "erase", confirmation="ann")
    run_jobs()
    shown = admin.get(page, params={"user_id": "ann"}).text
    assert re.search(r">episode</th><td>0<", shown)
    receipt = re.search(r'href="(/admin/tenants/tombstone/[^"]+/change/)">Receipt<', shown)[1]
    assert "verified: yes" in admin.get(receipt).text


def test_a_person_is_exported(admin, page):
    do(admin, page, "export")
    run_jobs()
    path = re.search(r'href="(/api/v1/exports/[^"]+)"', admin.get(page, params={"user_id": "ann"}).text)[1]
    assert admin.get(path).content[:2] == b"PK"


def test_a_person_is_restricted_and_used_again(admin, page, acme):
    do(admin, page, "restrict")
    with admin_role():
        assert Restriction.objects.filter(tenant=acme.tenant, user_id="ann").exists()
    do(admin, page, "lift")
    with admin_role():
        assert not Restriction.objects.filter(tenant=acme.tenant).exists()
        deeds = AuditEntry.objects.filter(tenant=acme.tenant, actor__startswith="admin:")
        assert {"subject.restrict", "subject.lift_restriction"} <= set(deeds.values_list("action", flat=True))


def test_whoever_is_not_signed_in_is_sent_to_the_login(visitor, page):
    assert visitor.get(page).headers["Location"].startswith("/admin/login/")


def test_an_unknown_tenant_is_not_found(admin):
    nobody = "00000000-0000-0000-0000-000000000000"
    assert admin.get(f"/admin/tenants/tenant/{nobody}/person/").status_code == 404


def test_retention_of_chosen_tenants_is_begun(admin, acme):
    path = "/admin/tenants/tenant/"
    token = form_token(admin.get(path))
    data = {"csrfmiddlewaretoken": token, "action": "retain", "_selected_action": str(acme.tenant.id)}
    asked = admin.post(path, data=data)
    assert (asked.status_code, "0 episodes, 0 events" in asked.text) == (200, True)
    with admin_role():
        assert not AuditEntry.objects.filter(tenant=acme.tenant, action="retention.begin").exists()
    data["confirmed"] = "yes"
    assert "jobs delete it now" in admin.post(path, data=data, follow_redirects=True).text
    with admin_role():
        assert not Job.objects.filter(tenant=acme.tenant, kind="retention").exists()  # nothing is too old
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="retention.begin")
    assert entry.actor == "admin:admin"


def test_a_tenants_page_says_for_how_long_it_keeps_what(admin, acme):
    shown = admin.get(f"/admin/tenants/tenant/{acme.tenant.id}/change/").text
    assert "episodes 90 days, events 30 days" in shown
