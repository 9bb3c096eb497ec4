"""Inviting somebody, and joining by the link: with a new account, or with the one that is signed in."""

import re
import secrets
from collections.abc import Iterator

import httpx
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tenants.audit import list_entries
from tenants.members import list_memberships
from tenants.models import Invitation, Role
from tenants.router import admin_role
from tests.console.people import TOKEN, Person, signed_in
from tests.console.senses import expect_fits, violations

GOOD = "a heron keeps its ladder"
LINK = re.compile(r'id="link">http[^<\s]+(/invitation/[A-Za-z0-9_:.=-]+)<')


@pytest.fixture
def visitor(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=30) as http:
        yield http


def link(admin: Person, role: str = "editor", **fields: str) -> str:
    """The path of a new invitation's link."""
    answer = admin.submit("invitations/new", role=role, days="7", **fields)
    return LINK.search(answer.text)[1]


def send(http: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """The form of the page, as a browser sends it."""
    token = TOKEN.search(http.get(path).text)[1]
    return http.post(path, data={"csrfmiddlewaretoken": token, **fields})


def named() -> str:
    return f"ann-{secrets.token_hex(4)}"


def user_of(name: str) -> User | None:
    with admin_role():
        return User.objects.filter(username=name).first()


def error_of(text: str, field: str) -> str:
    found = re.search(rf'id="id_{field}_error">(.*?)</div>', text, re.DOTALL)
    return found[1] if found else ""


def test_somebody_without_an_account_is_invited_and_joins(admin, server, browse, picture):
    page, name = browse(admin), named()
    page.goto(admin.path("members"))
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("Role").select_option("editor")
    page.get_by_label("For whom").fill("Ann of accounting")
    picture(page, "invitation-new-filled")
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_role("link", name="I have it")).to_be_visible()
    address = page.locator("#link").inner_text()
    picture(page, "invitation-made")
    page.get_by_role("link", name="I have it").click()
    row = page.get_by_label("Invitations").locator("li")
    expect(row).to_contain_text("Ann of accounting")
    expect(row).to_contain_text(f"by member:{admin.user.username}")
    assert address.rpartition("/")[2] not in page.content()
    picture(page, "invitation-waits")
    nobody = Person(admin.user, admin.tenant, httpx.Client(base_url=server))
    guest = browse(nobody, width=360)
    guest.goto(address)
    expect(guest.get_by_role("heading", name=f"Join {admin.tenant.slug}")).to_be_visible()
    assert "Ann of accounting" not in guest.content()
    assert violations(guest) == []
    expect_fits(guest, 360)
    picture(guest, "invitation-narrow")
    guest.get_by_label("Name", exact=True).fill(name)
    guest.get_by_label("Password", exact=True).fill(GOOD)
    guest.get_by_label("Password again").fill(GOOD)
    guest.get_by_role("button", name=f"Join {admin.tenant.slug}").click()
    expect(guest.locator(".who").get_by_text(name)).to_be_attached()
    assert [one.role for one in list_memberships(user=user_of(name))] == ["editor"]
    page.reload()
    expect(page.get_by_text("Nobody is invited.")).to_be_visible()
    actions = [one.action for one in list_entries(caller=admin.caller, limit=3)]
    assert sorted(actions) == ["invitation.accept", "invitation.create", "member.add"]


def test_whoever_is_signed_in_joins_with_that_account(admin, globex, server):
    path, other = link(admin, "viewer"), signed_in(globex.tenant, server, Role.EDITOR)
    shown = other.http.get(path).text
    assert f"You are signed in as <bdi>{other.user.username}</bdi>." in shown
    assert 'name="password"' not in shown
    assert send(other.http, path).headers["location"] == f"/console/{admin.tenant.slug}"
    assert {one.tenant: one.role for one in list_memberships(user=other.user)} == {
        admin.tenant.slug: "viewer",
        globex.tenant.slug: "editor",
    }
    assert other.http.get(path).status_code == 401


def test_a_member_keeps_the_role_and_the_link_is_not_used_up(admin, editor, visitor):
    path = link(admin, "viewer")
    answer = send(editor.http, path)
    assert answer.status_code == 409
    assert "is a member of" in answer.text
    assert [one.role for one in list_memberships(user=editor.user)] == ["editor"]
    assert visitor.get(path).status_code == 200


def test_whoever_has_an_account_signs_in_and_comes_back(admin, visitor):
    path = link(admin)
    to = re.search(r'href="(/sign-in\?next=[^"]+)"', visitor.get(path).text)[1]
    assert path in visitor.get(to).text


def test_all_that_is_wrong_with_an_account_is_said_at_once_and_no_password_is_shown_again(admin, visitor):
    path = link(admin)
    answer = send(visitor, path, name=admin.user.username, password="12345", again="other")
    assert answer.status_code == 422
    assert "Somebody has that name already" in error_of(answer.text, "name")
    assert error_of(answer.text, "password").count("<p>") == 3
    assert "another password" in error_of(answer.text, "again")
    assert f'value="{admin.user.username}"' in answer.text
    assert "12345" not in answer.text
    for field in ("name", "password", "again"):
        assert "required" in error_of(send(visitor, path).text, field)
    assert visitor.get(path).status_code == 200


def test_a_link_that_does_not_work_says_so_and_no_more(admin, editor, visitor):
    path = link(admin)
    for wrong in ("/invitation/x", f"{path[:-1]}{'A' if path[-1] != 'A' else 'B'}"):
        for http in (visitor, editor.http):
            answer = http.get(wrong)
            assert answer.status_code == 401
            assert "not valid, or no longer" in answer.text
            assert admin.tenant.slug not in answer.text
    assert visitor.get("/invitation/%00").status_code == 404


def test_a_revoked_link_opens_nothing(admin, visitor, browse):
    path = link(admin, note="Ben of accounting")
    page = browse(admin)
    page.goto(admin.path("members"))
    page.get_by_role("link", name="Revoke Ben").click()
    page.get_by_role("button", name="Revoke it").click()
    expect(page.get_by_text("The invitation is revoked")).to_be_visible()
    expect(page.get_by_text("Nobody is invited.")).to_be_visible()
    assert visitor.get(path).status_code == 401


def test_a_neighbours_admin_finds_and_ends_no_invitation(admin, globex, server, visitor):
    path, stranger = link(admin, note="Ben of accounting"), signed_in(globex.tenant, server)
    with admin_role():
        made = Invitation.objects.get(tenant_id=admin.tenant.id)
    for act in (stranger.open, lambda rest: stranger.submit(rest, at="members")):
        assert act(f"invitations/{made.id}/revoke").status_code == 404
    assert "Ben of accounting" not in stranger.open("members").text
    assert visitor.get(path).status_code == 200


def test_whoever_is_no_admin_invites_nobody(editor, person):
    for one in (editor, person("viewer"), person("privacy_officer")):
        assert one.open("invitations/new").status_code == 403
        assert one.submit("invitations/new", at="", role="admin", days="7").status_code == 403


def test_what_cannot_be_is_refused_beside_its_field(admin):
    answer = admin.submit("invitations/new", role="king", days="365", note="x" * 201)
    assert answer.status_code == 422
    assert all(error_of(answer.text, field) for field in ("role", "days", "note"))
    hostile = "<script>alert(1)</script> \u202e"
    assert "<script>alert" not in admin.submit("invitations/new", role="viewer", days="1", note=hostile).text
    shown = admin.open("members").text
    assert "<script>alert" not in shown
    assert "\u202e" not in shown


def test_a_form_of_another_site_joins_nobody(admin, globex, server):
    path, other = link(admin), signed_in(globex.tenant, server)
    assert other.http.post(path).status_code == 403
    assert len(list_memberships(user=other.user)) == 1


def test_whoever_asks_for_many_names_must_wait(admin, visitor):
    path = link(admin)
    fields = {"name": admin.user.username, "password": GOOD, "again": GOOD}
    for _ in range(10):
        assert send(visitor, path, **fields).status_code == 422
    for http in (visitor, admin.http):
        answer = http.get(path)
        assert answer.status_code == 429
        assert "Too many attempts" in answer.text


def test_a_session_id_that_was_planted_is_worth_nothing(admin, visitor, server):
    path, name = link(admin), named()
    visitor.cookies.set("sessionid", "p" * 32)
    answer = send(visitor, path, name=name, password=GOOD, again=GOOD)
    assert answer.status_code == 302
    assert answer.cookies["sessionid"] != "p" * 32
    assert "no-store" in visitor.get(admin.path()).headers["cache-control"]
    planted = httpx.get(f"{server}{admin.path()}", cookies={"sessionid": "p" * 32})
    assert planted.status_code == 302


def test_other_methods_are_refused(admin, visitor):
    path = link(admin)
    assert visitor.put(path).status_code in {403, 405}
    answer = visitor.get(path)
    assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert " style=" not in answer.text
