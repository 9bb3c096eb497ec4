"""An operator decides for a tenant: each time as a new version, checked as a whole."""

import json
import re

import httpx
import pytest

from tenants.models import AuditEntry, PolicyVersion
from tenants.policy.reading import forget, read_policy
from tenants.router import admin_role
from tests.tenants.test_admin_site import admin, form_token, login, operator, post, visitor

__all__ = ["admin", "login", "operator", "visitor"]


@pytest.fixture
def edit(acme) -> str:
    return f"/admin/tenants/policyversion/of/{acme.tenant.id}/edit/"


def write(admin: httpx.Client, path: str, document: object, version: int, note: str = "") -> httpx.Response:
    text = document if isinstance(document, str) else json.dumps(document)
    return post(admin, path, document=text, version=str(version), note=note)


def versions(tenant, agent=""):
    with admin_role():
        found = PolicyVersion.objects.filter(tenant=tenant, agent_id=agent).order_by("version")
        return [(one.version, one.document, one.author) for one in found]


def test_a_policy_is_written_as_a_new_version(admin, acme, edit):
    answer = write(admin, edit, {"recall": {"top_k": 7}}, 0, "more of it")
    assert answer.status_code == 302, answer.text
    assert versions(acme.tenant) == [(1, {"recall": {"top_k": 7}}, "admin:admin")]
    shown = admin.get(answer.headers["Location"]).text
    assert "Version 1 is written." in shown
    assert "Bring this version back" in shown
    forget(acme.tenant.id)
    assert read_policy(tenant_id=acme.tenant.id).recall.top_k == 7
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="policy.write")
    assert (entry.actor, entry.target) == ("admin:admin", "tenant")


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"recall": {"top_k": 0}}, "document.recall.top_k"),
        ({"recal": {}}, "Unknown field."),
        ("{", "This is not JSON"),
        ("[]", "must be a JSON object"),
        ("[" * 100_000, "This is not JSON"),
        ('{"recall": {"alpha": NaN}}', "This is not JSON"),
        ('{"entities": {"allowed_keys": ["a\\u0000"]}}', "This is not JSON"),
        ('{"entities": {"allowed_keys": ["\\ud800"]}}', "This is not JSON"),
    ],
)
def test_what_cannot_hold_is_said_and_not_written(document, told, admin, acme, edit):
    answer = write(admin, edit, document, 0)
    assert (answer.status_code, told in answer.text) == (200, True)
    assert versions(acme.tenant) == []


def test_whoever_has_read_an_older_version_overwrites_nothing(admin, acme, edit):
    write(admin, edit, {"recall": {"top_k": 7}}, 0)
    assert "The newest version is 1" in write(admin, edit, {"recall": {"top_k": 8}}, 0).text
    assert len(versions(acme.tenant)) == 1


def test_an_agent_has_a_policy_of_its_own(admin, acme, edit):
    answer = write(admin, f"{edit}?agent=bot", {"recall": {"top_k": 9}}, 0)
    assert answer.status_code == 302, answer.text
    assert versions(acme.tenant, "bot")[0][1] == {"recall": {"top_k": 9}}
    assert versions(acme.tenant) == []


def test_an_old_version_is_brought_back_after_a_look_at_what_changes(admin, acme, edit):
    write(admin, edit, {"recall": {"top_k": 7}}, 0)
    write(admin, edit, {"recall": {"top_k": 8}}, 1)
    with admin_role():
        first = PolicyVersion.objects.get(tenant=acme.tenant, version=1)
    path = f"/admin/tenants/policyversion/{first.id}/bring-back/"
    assert "8 becomes 7" in admin.get(path).text
    assert len(versions(acme.tenant)) == 2
    answer = post(admin, path, confirmed="yes")
    assert answer.status_code == 302, answer.text
    assert [document["recall"]["top_k"] for _n, document, _by in versions(acme.tenant)] == [7, 8, 7]
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="policy.rollback")
    assert entry.actor == "admin:admin"


def test_retention_is_changed_and_given_back(admin, acme, edit):
    write(admin, edit, {"recall": {"top_k": 7}, "retention": {"events_days": 20}}, 0)
    path = f"/admin/tenants/policyversion/of/{acme.tenant.id}/retention/"
    assert re.search(r'name="events_days" value="20"', admin.get(path).text)
    refused = post(admin, path, episodes_days="1", events_days="", version="1")
    assert "greater than or equal to 30" in refused.text
    answer = post(admin, path, episodes_days="60", events_days="", version="1")
    assert answer.status_code == 302, answer.text
    assert versions(acme.tenant)[-1][1] == {"recall": {"top_k": 7}, "retention": {"episodes_days": 60}}
    shown = admin.get(f"/admin/tenants/tenant/{acme.tenant.id}/change/").text
    assert "episodes 60 days, events 30 days" in shown


def test_a_version_itself_cannot_be_changed_or_removed(admin, acme, edit):
    write(admin, edit, {"recall": {"top_k": 7}}, 0)
    with admin_role():
        row = PolicyVersion.objects.get(tenant=acme.tenant)
    form = {"csrfmiddlewaretoken": form_token(admin.get(edit)), "document": "{}"}
    assert admin.post(f"/admin/tenants/policyversion/{row.id}/change/", data=form).status_code == 403
    assert admin.get(f"/admin/tenants/policyversion/{row.id}/delete/").status_code == 403


def test_writing_one_begins_with_the_question_whose(admin, acme, edit):
    add = "/admin/tenants/policyversion/add/"
    assert f'href="{add}"' in admin.get("/admin/tenants/policyversion/").text
    assert "This field is required" in post(admin, add).text
    led = post(admin, add, tenant=str(acme.tenant.id), agent_id="support & sales")
    assert led.headers["location"] == f"{edit}?agent=support+%26+sales"
    assert "support &amp; sales" in admin.get(led.headers["location"]).text


def test_an_unknown_tenant_or_version_is_not_found(admin):
    nobody = "00000000-0000-0000-0000-000000000000"
    for path in (f"of/{nobody}/edit/", f"of/{nobody}/retention/", f"{nobody}/bring-back/"):
        assert admin.get(f"/admin/tenants/policyversion/{path}").status_code == 404
