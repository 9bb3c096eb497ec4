"""The operator's pages, over the running server."""

import io
import json
import re
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command

from tenants.api_keys import authenticate, create_api_key
from tenants.members import access_member, add_member
from tenants.models import ApiKey, AuditEntry, Member, Tenant
from tenants.router import admin_role
from tests.tenants.people import make_user

PAGES = (
    "",
    "tenants/tenant/",
    "tenants/apikey/",
    "tenants/auditentry/",
    "tenants/providerusage/",
    "tenants/policyversion/",
    "tenants/tombstone/",
    "auth/user/",
)


@pytest.fixture(scope="module")
def operator(server: str) -> dict[str, str]:
    """The demo admin's user name and password."""
    out = io.StringIO()
    call_command("demo_tenant", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def visitor(server: str) -> Iterator[httpx.Client]:
    """A browser that nobody has logged in with."""
    with httpx.Client(base_url=server, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def login(server: str, operator: dict[str, str]) -> httpx.Response:
    """The answer to the demo admin's login."""
    with httpx.Client(base_url=server, timeout=30) as client:
        answer = log_in(client, operator["admin_user"], operator["admin_password"])
    assert answer.status_code == 302, answer.text
    assert answer.headers["Location"] == "/admin/"
    return answer


@pytest.fixture
def admin(visitor: httpx.Client, login: httpx.Response) -> httpx.Client:
    """A browser in which the demo admin has logged in."""
    visitor.cookies.update(login.cookies)
    return visitor


def log_in(client: httpx.Client, user: str, password: str, **headers: str) -> httpx.Response:
    page = client.get("/admin/login/?next=/admin/", follow_redirects=True)
    token = form_token(page)
    form = {"username": user, "password": password, "csrfmiddlewaretoken": token, "next": "/admin/"}
    return client.post("/sign-in", data=form, headers=headers)


def form_token(page: httpx.Response) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]


def post(client: httpx.Client, path: str, **form: str) -> httpx.Response:
    """Sends a page's form, as a browser does after opening the page."""
    token = form_token(client.get(path))
    return client.post(path, data={**form, "csrfmiddlewaretoken": token})


@pytest.mark.parametrize("page", PAGES)
def test_without_login_every_page_leads_to_the_login(page, visitor):
    answer = visitor.get(f"/admin/{page}")
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("page", PAGES)
def test_the_demo_admin_sees_every_page(page, admin):
    answer = admin.get(f"/admin/{page}")
    assert answer.status_code == 200
    assert "Log out" in answer.text


def test_a_wrong_password_logs_nobody_in(visitor, operator):
    assert "correct username and password" in log_in(visitor, operator["admin_user"], "wrong").text
    assert visitor.get("/admin/").status_code == 302


def test_an_api_key_opens_no_page_of_the_admins(visitor, operator):
    answer = visitor.get("/admin/", headers={"Authorization": f"Bearer {operator['api_key']}"})
    assert answer.status_code == 302


def test_a_login_without_the_forms_token_or_from_another_site_is_refused(visitor, operator):
    form = {"username": operator["admin_user"], "password": operator["admin_password"]}
    assert visitor.post("/admin/login/", data=form).status_code == 403
    foreign = log_in(visitor, *form.values(), Origin="https://evil.example")
    assert foreign.status_code == 403


def test_the_session_cookie_is_out_of_scripts_and_other_sites_reach(login, admin):
    [cookie] = [text for text in login.headers.get_list("set-cookie") if text.startswith("sessionid=")]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert admin.get("/admin/").status_code == 200
    admin.cookies.clear()
    assert admin.get("/admin/").status_code == 302


def test_the_lists_span_the_tenants(admin, acme, globex):
    for member in (acme, globex):
        key_id = member.key.split("_")[1]
        tenants = admin.get("/admin/tenants/tenant/", params={"q": member.tenant.slug})
        assert f">{member.tenant.slug}<" in tenants.text
        assert key_id in admin.get("/admin/tenants/apikey/", params={"q": key_id}).text
        entries = admin.get("/admin/tenants/auditentry/", params={"tenant": member.tenant.slug})
        assert "tenant.create" in entries.text
        assert key_id in entries.text


def test_a_list_is_narrowed_to_a_tenant_by_its_slug(admin, acme, globex):
    """The page offers a few of the tenants only: with a link for each it would grow as they do."""
    own, other = acme.key.split("_")[1], globex.key.split("_")[1]
    page = admin.get("/admin/tenants/apikey/", params={"tenant": acme.tenant.slug, "q": "", "o": "2"})
    assert (own in page.text, other in page.text) == (True, False)
    assert '<input type="hidden" name="o" value="2">' in page.text
    assert 0 < page.text.count("<option value=") <= 40
    for slug in ("nobody-has-it", "a\0b", '"><script>'):
        page = admin.get("/admin/tenants/apikey/", params={"tenant": slug})
        assert (page.status_code, own in page.text, "<script>" in page.text) == (200, False, False)


def test_no_page_shows_a_secret_or_its_hash(admin, acme):
    with admin_role():
        key = ApiKey.objects.get(tenant=acme.tenant)
    page = admin.get(f"/admin/tenants/apikey/{key.id}/change/")
    assert page.status_code == 200
    assert key.key_id in page.text
    assert key.secret_hash not in page.text


def test_a_key_is_revoked_from_the_list_and_the_log_tells_by_whom(admin, acme):
    with admin_role():
        key = ApiKey.objects.get(tenant=acme.tenant)
    chosen = {"action": "revoke", "_selected_action": str(key.id)}
    asked = post(admin, "/admin/tenants/apikey/", **chosen)
    assert (asked.status_code, key.key_id in asked.text) == (200, True)
    assert "cannot be undone" in asked.text
    with admin_role():
        assert ApiKey.objects.get(id=key.id).revoked_at is None
    answer = post(admin, "/admin/tenants/apikey/", **chosen, confirmed="yes")
    assert answer.status_code == 302, answer.text
    with admin_role():
        assert ApiKey.objects.get(id=key.id).revoked_at is not None
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="api_key.revoke")
    assert (entry.actor, entry.target) == ("admin:admin", key.key_id)
    again = post(admin, "/admin/tenants/apikey/", **chosen)
    assert again.status_code == 302
    assert "revoked already" in admin.get("/admin/tenants/apikey/").text


NEW_KEY = re.compile(r"mem_[0-9a-f]{16}_[A-Za-z0-9_-]{43}")


def test_a_key_is_rotated_from_the_list_and_its_successor_shown_once(admin, acme):
    with admin_role():
        key = ApiKey.objects.get(tenant=acme.tenant)
    answer = post(admin, "/admin/tenants/apikey/", action="rotate", _selected_action=str(key.id))
    page = f"/admin/tenants/apikey/{key.id}/rotate/"
    assert (answer.status_code, answer.headers["Location"]) == (302, page)
    assert "Enter a number" in post(admin, page, overlap_hours="long").text
    made = post(admin, page, overlap_hours="24")
    [text] = NEW_KEY.findall(made.text)
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    assert authenticate(text).tenant_id == acme.tenant.id
    assert authenticate(acme.key).tenant_id == acme.tenant.id
    assert not NEW_KEY.search(admin.get("/admin/tenants/apikey/").text)
    with admin_role():
        assert ApiKey.objects.get(tenant=acme.tenant, replaces=key.key_id).key_id in text
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="api_key.rotate")
    assert (entry.actor, entry.target) == ("admin:admin", key.key_id)
    again = post(admin, page, overlap_hours="0").text
    assert "was rotated already" in again
    assert not NEW_KEY.search(again)


def test_a_key_is_made_and_its_text_shown_once(admin, acme):
    path = "/admin/tenants/apikey/add/"
    form = {"tenant": str(acme.tenant.id), "name": "by hand", "scopes": "read", "user_id": "ann"}
    late = post(admin, path, **form, expires_at="2020-01-01T00:00")
    assert "Must be in the future." in late.text
    assert "valid choice" in post(admin, path, **(form | {"scopes": "everything"})).text
    made = post(admin, path, **form)
    [text] = NEW_KEY.findall(made.text)
    caller = authenticate(text)
    assert (caller.tenant_id, caller.scopes, caller.user_id) == (acme.tenant.id, {"read"}, "ann")
    assert not NEW_KEY.search(admin.get("/admin/tenants/apikey/").text)
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme.tenant, action="api_key.create", target=caller.key_id)
    assert entry.actor == "admin:admin"


def test_two_keys_are_not_rotated_at_once(admin, acme, globex):
    with admin_role():
        ids = [str(ApiKey.objects.get(tenant=one.tenant).id) for one in (acme, globex)]
    token = form_token(admin.get("/admin/tenants/apikey/"))
    form = {"csrfmiddlewaretoken": token, "action": "rotate", "_selected_action": ids}
    assert admin.post("/admin/tenants/apikey/", data=form).status_code == 302
    assert "Select one key" in admin.get("/admin/tenants/apikey/").text
    with admin_role():
        assert ApiKey.objects.filter(tenant__in=[acme.tenant, globex.tenant]).count() == 2


def test_what_the_admin_does_to_a_member_counts_and_is_in_the_log(admin, acme):
    ann = make_user("ann")
    form = {"tenant": str(acme.tenant.id), "user": str(ann.id), "role": "viewer"}
    made = post(admin, "/admin/tenants/member/add/", **form)
    assert made.status_code == 302, made.text
    assert access_member(user=ann, tenant=acme.tenant.slug).scopes == {"read"}
    with admin_role():
        member = Member.objects.get(tenant=acme.tenant)
    assert "already exists" in post(admin, "/admin/tenants/member/add/", **form).text
    page = admin.get(f"/admin/tenants/tenant/{acme.tenant.id}/change/").text
    assert f"/admin/tenants/member/{member.id}/change/" in page
    changed = post(admin, f"/admin/tenants/member/{member.id}/change/", role="editor", user="1")
    assert changed.status_code == 302, changed.text
    assert access_member(user=ann, tenant=acme.tenant.slug).scopes == {"read", "write", "ingest"}
    gone = post(admin, f"/admin/tenants/member/{member.id}/delete/", post="yes")
    assert gone.status_code == 302, gone.text
    with admin_role():
        assert not Member.objects.filter(tenant=acme.tenant).exists()
        entries = AuditEntry.objects.filter(tenant=acme.tenant, action__startswith="member.").order_by("at")
        found = [(entry.actor, entry.action, entry.target) for entry in entries]
    assert found == [
        ("admin:admin", f"member.{deed}", ann.username) for deed in ("add", "change_role", "remove")
    ]


def test_members_removed_from_the_list_are_each_in_the_log(admin, acme):
    members = [
        add_member(tenant=acme.tenant, user=make_user(name), role="viewer", actor="test")
        for name in ("ann", "bob")
    ]
    token = form_token(admin.get("/admin/tenants/member/"))
    form = {
        "csrfmiddlewaretoken": token,
        "action": "delete_selected",
        "_selected_action": [str(member.id) for member in members],
        "post": "yes",
    }
    assert admin.post("/admin/tenants/member/", data=form).status_code == 302
    with admin_role():
        assert not Member.objects.filter(tenant=acme.tenant).exists()
        assert AuditEntry.objects.filter(tenant=acme.tenant, action="member.remove").count() == 2


def test_what_the_admin_does_to_a_tenant_is_in_the_log(admin):
    made = post(admin, "/admin/tenants/tenant/add/", slug="by-hand", name="By hand")
    assert made.status_code == 302, made.text
    with admin_role():
        tenant = Tenant.objects.get(slug="by-hand")
    form = {"slug": "by-hand", "name": "By hand", "disabled_at": "2026-01-02T03:04:05"}
    changed = post(admin, f"/admin/tenants/tenant/{tenant.id}/change/", **form)
    assert changed.status_code == 302, changed.text
    with admin_role():
        entries = AuditEntry.objects.filter(tenant=tenant).order_by("at")
        found = [(entry.actor, entry.action, entry.details["fields"]) for entry in entries]
        assert Tenant.objects.get(id=tenant.id).disabled_at is not None
    assert found == [
        ("admin:admin", "tenant.create", ["slug", "name"]),
        ("admin:admin", "tenant.change", ["disabled_at"]),
    ]


@pytest.mark.parametrize("page", ["tenants/tenant", "tenants/apikey", "tenants/auditentry"])
def test_nothing_that_the_log_speaks_of_can_be_deleted_or_rewritten_there(page, admin, acme):
    model = {"tenants/tenant": Tenant, "tenants/apikey": ApiKey, "tenants/auditentry": AuditEntry}[page]
    own = {"id": acme.tenant.id} if model is Tenant else {"tenant": acme.tenant}
    with admin_role():
        row = model.objects.filter(**own).first()
    assert admin.get(f"/admin/{page}/{row.id}/delete/").status_code == 403
    assert "delete_selected" not in admin.get(f"/admin/{page}/").text
    if model is not Tenant:
        token = form_token(admin.get(f"/admin/{page}/"))
        form = {"csrfmiddlewaretoken": token, "action": "x", "actor": "x"}
        assert admin.post(f"/admin/{page}/{row.id}/change/", data=form).status_code == 403
    if model is AuditEntry:
        assert admin.get(f"/admin/{page}/add/").status_code == 403


def test_a_web_process_keeps_to_the_app_role_elsewhere(admin, acme, globex):
    """The admin's cookie widens no other page: the role belongs to the path, not to the browser."""
    _key, text = create_api_key(tenant=acme.tenant, actor="test")
    body = {"text": "of acme"}
    made = admin.post("/api/v1/episodes", json=body, headers={"Authorization": f"Bearer {text}"})
    assert made.status_code == 201, made.text
    headers = {"Authorization": f"Bearer {globex.key}"}
    assert admin.get("/api/v1/episodes", headers=headers).json()["results"] == []
    assert settings.MIDDLEWARE.index(
        "memoryproject.middleware.AdminPagesUseAdminRole"
    ) < settings.MIDDLEWARE.index("django.contrib.sessions.middleware.SessionMiddleware")
