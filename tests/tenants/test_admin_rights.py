"""Whoever has an account for the operator's pages sees and does there what it was given, and no more."""

from collections.abc import Iterator

import httpx
import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from tenants.models import ApiKey, Job, PolicyVersion, Tombstone
from tenants.router import admin_role
from tests.tenants.people import make_user
from tests.tenants.test_admin_site import admin, form_token, log_in, login, operator, visitor

__all__ = ["admin", "login", "operator", "visitor"]
PASSWORD = "correct horse battery staple"


@pytest.fixture
def clerk(server: str) -> Iterator[tuple[httpx.Client, User]]:
    """Somebody of the staff who may look at everything of tenants, and a browser with their session."""
    user = make_user("clerk", is_staff=True, password=make_password(PASSWORD))
    with admin_role():
        may = Permission.objects.filter(content_type__app_label="tenants", codename__startswith="view_")
        user.user_permissions.add(*may)
    with httpx.Client(base_url=server, timeout=30) as client:
        assert log_in(client, user.username, PASSWORD).status_code == 302
        yield client, user


@pytest.fixture
def rows(acme) -> dict[str, str]:
    """Ids of what there is to do something with."""
    now = timezone.now()
    job = Job(
        tenant=acme.tenant, kind="subject.export", state="failed", max_attempts=5, run_at=now, created_at=now
    )
    version = PolicyVersion(tenant=acme.tenant, version=1, document={}, author="test")
    tombstone = Tombstone(tenant=acme.tenant, subject="0" * 64, requested_by="test")
    tombstone.erased_at = acme.tenant.created_at
    with admin_role():
        for row in (job, version, tombstone):
            row.save(force_insert=True)
        key = ApiKey.objects.get(tenant=acme.tenant)
    named = {
        "job": job,
        "policyversion": version,
        "apikey": key,
        "tombstone": tombstone,
        "tenant": acme.tenant,
    }
    return {name: str(row.id) for name, row in named.items()}


PAGES = (
    "apikey/add/",
    "apikey/{apikey}/rotate/",
    "policyversion/of/{tenant}/edit/",
    "policyversion/of/{tenant}/retention/",
    "policyversion/{policyversion}/bring-back/",
    "tenant/{tenant}/person/",
)
ACTIONS = (
    ("apikey", "revoke"),
    ("apikey", "rotate"),
    ("job", "replay"),
    ("job", "give_up"),
    ("tenant", "retain"),
)


@pytest.mark.parametrize("page", PAGES)
def test_who_may_only_look_changes_nothing(page, clerk, rows, acme):
    client, _user = clerk
    path = f"/admin/tenants/{page.format(**rows)}"
    assert client.get(path).status_code == 403
    token = form_token(client.get("/admin/password_change/"))
    form = {"csrfmiddlewaretoken": token, "confirmed": "yes", "version": "1", "document": "{}"}
    assert client.post(path, data=form | {"overlap_hours": "0", "tenant": rows["tenant"]}).status_code == 403
    with admin_role():
        assert ApiKey.objects.filter(tenant=acme.tenant).count() == 1
        assert PolicyVersion.objects.filter(tenant=acme.tenant).count() == 1


@pytest.mark.parametrize(("of", "action"), ACTIONS)
def test_an_action_is_neither_offered_nor_done_without_its_right(of, action, clerk, rows, acme):
    client, _user = clerk
    path = f"/admin/tenants/{of}/"
    shown = client.get(path)
    assert (shown.status_code, f'value="{action}"' in shown.text) == (200, False)
    token = form_token(client.get("/admin/password_change/"))
    form = {"csrfmiddlewaretoken": token, "action": action, "_selected_action": rows[of], "confirmed": "yes"}
    assert client.post(path, data=form).status_code in (200, 302, 403)
    with admin_role():
        assert ApiKey.objects.get(tenant=acme.tenant).revoked_at is None
        assert Job.objects.get(id=rows["job"]).state == "failed"


def test_who_may_look_reads_receipts_and_versions_without_buttons(clerk, rows):
    client, _user = clerk
    assert client.get(f"/admin/tenants/tombstone/{rows['tombstone']}/change/").status_code == 200
    version = client.get(f"/admin/tenants/policyversion/{rows['policyversion']}/change/")
    assert (version.status_code, "Bring this version back" in version.text) == (200, False)
    key = client.get(f"/admin/tenants/apikey/{rows['apikey']}/change/")
    assert (key.status_code, "rotate/" in key.text) == (200, False)


def test_who_may_look_at_nothing_reads_no_receipt(clerk, rows):
    client, user = clerk
    with admin_role():
        user.user_permissions.clear()
    for rest in ("change/", "receipt.json"):
        assert client.get(f"/admin/tenants/tombstone/{rows['tombstone']}/{rest}").status_code == 403


@pytest.mark.parametrize("page", [*PAGES, "apikey/", "job/", "tenant/"])
def test_without_the_forms_token_nothing_is_done(page, admin, rows, acme):
    path = f"/admin/tenants/{page.format(**rows)}"
    form = {"confirmed": "yes", "action": "revoke", "_selected_action": rows["apikey"], "overlap_hours": "0"}
    form |= {"tenant": rows["tenant"], "scopes": "read", "document": "{}", "version": "1"}
    assert admin.post(path, data=form).status_code == 403
    with admin_role():
        assert ApiKey.objects.get(tenant=acme.tenant).revoked_at is None


@pytest.mark.parametrize(
    "page", [*PAGES, "tombstone/{tombstone}/change/", "tombstone/{tombstone}/receipt.json"]
)
def test_whoever_is_not_signed_in_is_sent_to_the_login(page, visitor, rows):
    answer = visitor.get(f"/admin/tenants/{page.format(**rows)}")
    assert answer.headers["Location"].startswith("/admin/login/")
