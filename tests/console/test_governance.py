"""Policy, keys, members and the audit log."""

import re
import secrets

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from tenants.api_keys import authenticate
from tenants.audit import list_entries
from tenants.errors import Unauthenticated
from tenants.members import add_member
from tenants.models import Role
from tenants.policy.versions import Level, write_policy
from tenants.restrictions import restrict_subject
from tenants.router import admin_role
from tests.console.people import Person
from tests.isolation.test_self_test import changed

HOSTILE = "<script>alert(1)</script> \u202e [x](javascript:alert(1))"


def unhurt(text: str) -> bool:
    return not any(raw in text for raw in ("<script>alert", "\u202e", 'href="javascript'))


def test_an_agents_policy_says_what_comes_from_the_tenant(admin):
    tenant, agent = Level(admin.tenant.id), Level(admin.tenant.id, "helper")
    write_policy(level=tenant, actor="test", changes={"recall": {"alpha": 0.7}})
    write_policy(level=agent, actor="test", changes={"recall": {"top_k": 3}}, note=HOSTILE)
    text = admin.open("policy", agent="helper").text
    assert "this agent" in text
    assert "the tenant" in text
    assert "trial.share" not in text
    assert unhurt(admin.open("policy/history", agent="helper").text)
    assert "<script>alert" not in admin.open("policy", agent=HOSTILE).text


def shown_key(page: Page) -> str:
    """The key, once the page is there that shows it."""
    expect(page.get_by_role("link", name="I have it")).to_be_visible()
    return page.locator("#key").inner_text()


def test_a_key_is_made_shown_once_and_revoked(admin: Person, browse, picture):
    page = browse(admin)
    page.goto(admin.path("keys"))
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name").fill("nightly import")
    page.get_by_label("ingest").check()
    page.get_by_label("Bound to user").fill("ann")
    page.get_by_role("button", name="Make the key").click()
    text = shown_key(page)
    assert authenticate(text).user_id == "ann"
    picture(page, "key-made")
    page.get_by_role("link", name="I have it").click()
    rotate = page.get_by_role("link", name=f"Rotate {text.split('_')[1]}")
    expect(rotate).to_be_visible()
    page.wait_for_load_state()
    assert text not in page.content()
    picture(page, "keys-listed")
    rotate.click()
    page.get_by_label("Overlap in hours").fill("0")
    page.get_by_role("button", name="Rotate it").click()
    second = shown_key(page)
    page.goto(admin.path(f"keys/{second.split('_')[1]}/revoke"))
    page.get_by_role("button", name="Revoke it").click()
    page.get_by_text("is revoked").first.wait_for()
    with pytest.raises(Unauthenticated):
        authenticate(second)


def test_a_wrong_key_is_refused_beside_its_field(admin):
    old = admin.submit("keys/new", scopes="read", expires_at="2020-01-01T00:00:00")
    assert (old.status_code, "Must be in the future." in old.text) == (422, True)
    assert admin.submit("keys/new", scopes="all").status_code == 422
    made = admin.submit("keys/new", scopes="read", name=HOSTILE)
    assert unhurt(made.text)
    assert unhurt(admin.open("keys").text)


def test_a_member_is_added_changed_and_removed(admin: Person, browse, picture):
    with admin_role():
        name = User.objects.create(username=f"ben-{secrets.token_hex(4)}").username
    page = browse(admin)
    page.goto(admin.path("members"))
    page.get_by_label("User name").fill(name)
    page.get_by_role("button", name="Add").click()
    page.get_by_text(f"{name} is a member.").wait_for()
    page.get_by_label(f"Role of {name}", exact=True).select_option("editor")
    page.get_by_role("button", name=f"Change the role of {name}").click()
    page.get_by_text("The role is changed").wait_for()
    expect(page.get_by_label(f"Role of {name}", exact=True)).to_have_value("editor")
    picture(page, "members-listed")
    page.get_by_role("link", name=f"Remove {name}").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("The membership has ended.").wait_for()
    page.wait_for_load_state()
    expect(page.get_by_label(f"Role of {name}", exact=True)).to_have_count(0)


def test_the_last_admin_cannot_leave(admin):
    own = re.search(r"members/([0-9a-f-]{36})/remove", admin.open("members").text).group(1)
    answer = admin.submit(f"members/{own}/remove")
    assert answer.status_code == 409
    assert "A tenant needs an admin" in answer.text
    assert admin.submit("members", name="nobody at all", role="viewer").status_code == 422


def test_the_audit_log_is_filtered_and_goes_on(admin: Person, person, browse, picture):
    for number in range(60):
        changes = {"recall": {"top_k": 1 + number}}
        write_policy(level=Level(admin.tenant.id), actor="test:clock", changes=changes, note="x")
    page = browse(person("privacy_officer"))
    page.goto(admin.path("audit"))
    page.locator("li.more").scroll_into_view_if_needed()
    page.locator(".rows > li").nth(60).wait_for()
    page.get_by_label("Actor").fill("test:clock")
    page.get_by_label("Action").fill("policy.write")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile("actor=test"))
    expect(page.locator(".rows > li .title")).to_have_count(50)
    page.locator("summary").nth(1).click()
    picture(page, "audit-filtered")
    assert admin.open("audit", action="nothing.like.it").text.count('class="empty"') == 1
    assert admin.open("audit", after="x").status_code == 422


def test_the_audit_log_of_a_person_tells_of_a_restriction(admin, person):
    officer = person("privacy_officer")
    restrict_subject(caller=officer.caller, user_id="ann", reason="", now=timezone.now())
    assert "subject.restrict" in officer.open("audit", subject="ann").text
    assert "subject.restrict" not in officer.open("audit", subject="bob").text


def test_what_is_done_in_the_console_is_in_the_log(admin):
    admin.submit("keys/new", scopes="read")
    entry = list_entries(caller=admin.caller, limit=1)[0]
    assert (entry.action, entry.actor) == ("api_key.create", admin.caller.principal)


def test_an_editor_reads_the_policy_and_no_more(editor):
    assert editor.open("policy").status_code == 200
    assert "Edit" not in re.findall(r"<a[^>]*>([^<]*)</a>", editor.open("policy").text)
    for rest in ("policy/edit", "keys", "keys/new", "members", "audit"):
        assert editor.open(rest).status_code == 403


def test_a_member_of_two_tenants_changes_only_the_one(admin, globex):
    add_member(tenant=globex.tenant, user=admin.user, role=Role.VIEWER, actor="test")
    assert admin.http.get(f"/console/{globex.tenant.slug}/keys").status_code == 403


def test_the_walls_are_tried(admin: Person, browse, picture):
    page = browse(admin)
    page.goto(admin.path("isolation"))
    page.get_by_role("button", name="Try the walls").click()
    page.get_by_role("heading", name="Nothing leaked").wait_for()
    expect(page.locator(".badge[data-of=refused]").nth(100)).to_be_visible()
    page.wait_for_load_state()
    expect(page.locator(".badge[data-of=leaked]")).to_have_count(0)
    picture(page, "isolation-tried")
    page.goto(admin.path("isolation"))
    page.get_by_role("heading", name="Nothing leaked when it was last tried").wait_for()


def test_a_hole_is_told_in_red(admin: Person, acme):
    table = "observations_observation"
    with changed(
        f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    ):
        answer = admin.submit("isolation")
    assert "It leaks" in answer.text
    assert 'data-of="leaked"' in answer.text
    assert "It leaked" in admin.open("isolation").text
