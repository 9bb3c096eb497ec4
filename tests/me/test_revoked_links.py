"""A link that was revoked opens nothing, and neither does a visit by it; everybody else's go on."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tenants.models import LinkRevocation
from tenants.person_links import PersonLink, make_link, open_sealed, renewed, revoke_links, seal
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tenants.tombstones import subject_of
from tests.api.test_tokens import door
from tests.conftest import Member, make_member
from tests.console.senses import violations
from tests.me.conftest import Visitor, link_for
from tests.privacy.people import run_jobs
from tests.tenants.issuer import token

__all__ = ["door"]
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def officer(acme: Member) -> Member:
    return acme.with_key(scopes=("privacy",))


def revoke(member: Member, user_id: str) -> None:
    answer = member.http.delete(f"/api/v1/subjects/{user_id}/link")
    assert (answer.status_code, answer.content) == (204, b"")


def opens(url: str) -> bool:
    """Whether a browser that nobody has used gets in by it, and to a page."""
    with httpx.Client() as browser:
        entered = browser.get(url)
        shown = browser.get(httpx.URL(url).join("/me/"))
    assert (entered.status_code, shown.status_code) in {(302, 200), (401, 401)}
    return entered.status_code == 302


def visiting(url: str) -> httpx.Client:
    browser = httpx.Client(base_url=httpx.URL(url).join("/"))
    assert browser.get(url).status_code == 302
    return browser


def test_a_revoked_link_opens_nothing_and_a_new_one_does(officer: Member):
    links = [link_for(officer, "ann") for _ in range(2)]
    assert all(map(opens, links))
    revoke(officer, "ann")
    assert not any(map(opens, links))
    assert opens(link_for(officer, "ann"))
    revoke(officer, "ann")
    revoke(officer, "ann")
    assert opens(link_for(officer, "ann"))


def test_a_visit_that_is_running_ends(officer: Member):
    browser = visiting(link_for(officer, "ann"))
    assert browser.get("/me/rights").status_code == 200
    revoke(officer, "ann")
    for path in ("", "rights", "uses", "conversations"):
        answer = browser.get(f"/me/{path}")
        assert answer.status_code == 401
        assert "This link is not valid, or no longer" in answer.text


def test_a_form_that_was_open_changes_nothing(ann: Visitor):
    path = ann.memory("Lisbon")
    page = ann.open(path).text
    revoke(ann.member, "ann")
    csrf = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    answer = ann.http.post(f"/me/{path}", data={"csrfmiddlewaretoken": csrf, "text": "Porto"})
    assert answer.status_code == 401
    assert ann.member.http.get("/api/v1/entities/ann/home_city").json()["value"] == "Lisbon"


def test_links_of_others_go_on_also_of_one_of_that_id_in_another_tenant(officer: Member, server: str):
    globex = make_member("globex", server).with_key(scopes=("privacy",))
    others = [link_for(officer, "bob"), link_for(officer, "ann "), link_for(globex, "ann")]
    visits = [visiting(url) for url in others]
    mine = link_for(officer, "ann")
    revoke(officer, "ann")
    assert not opens(mine)
    assert all(map(opens, others))
    assert [one.get("/me/").status_code for one in visits] == [200, 200, 200]


def test_an_erasure_voids_links_and_visits_with_its_tombstone(officer: Member):
    url, other = link_for(officer, "ann"), link_for(officer, "bob")
    browser = visiting(url)
    begin_erasure(tenant_id=officer.tenant.id, user_id="ann", actor="test", now=timezone.now())
    assert not opens(url)  # before a worker has done anything
    assert browser.get("/me/").status_code == 401
    again = link_for(officer, "ann")
    run_jobs()
    assert not opens(url)
    assert opens(again)
    assert opens(other)
    assert opens(link_for(officer, "ann"))


def test_what_an_erasure_that_is_undone_voids_goes_on(officer: Member):
    url = link_for(officer, "ann")
    with pytest.raises(ZeroDivisionError), scope(officer.tenant.id):  # noqa: PT012
        begin_erasure(tenant_id=officer.tenant.id, user_id="ann", actor="test", now=timezone.now())
        raise ZeroDivisionError
    assert opens(url)


def test_who_erases_themselves_sees_the_receipt_and_nobody_else_of_that_link_does(ann: Visitor):
    elsewhere = visiting(ann.url)
    assert ann.submit("erase", confirmation="ERASE").status_code == 302
    run_jobs()
    assert "signature" in ann.open("rights").text
    assert elsewhere.get("/me/rights").status_code == 401
    assert not opens(ann.url)


def test_a_person_signs_out_everywhere(ann: Visitor, browse: Callable[..., Page], picture: Callable):
    elsewhere, other = visiting(ann.url), link_for(ann.member, "bob")
    page = browse(ann, width=360, allow=("401",))
    page.goto(ann.url)
    page.get_by_role("link", name="Your rights").click()
    expect(page.get_by_role("heading", name="Sign out everywhere")).to_be_visible()
    assert violations(page) == []
    picture(page, "me-sign-out")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("heading", name="You are signed out everywhere")).to_be_visible()
    assert violations(page) == []
    picture(page, "me-signed-out")
    kept = page.context.cookies(f"{ann.http.base_url}/me/")
    assert ("person", "/me") not in {(one["name"], one["path"]) for one in kept}
    page.goto("/me/")
    expect(page.get_by_text("This link is not valid, or no longer.")).to_be_visible()
    assert elsewhere.get("/me/").status_code == 401
    assert not opens(ann.url)
    assert opens(other)
    (entry,) = ann.member.http.get("/api/v1/audit", params={"action": "subject.link.revoke"}).json()[
        "results"
    ]
    assert entry["actor"] == entry["target"]
    assert entry["target"].startswith("subject:")


# The clock


def link_of(member: Member, user_id: str) -> PersonLink:
    return make_link(caller=member.caller, user_id=user_id, now=timezone.now())


def made_at(member: Member, user_id: str, moment) -> str:
    later = timezone.now() + timedelta(hours=1)
    return seal(tenant=member.tenant.slug, user_id=user_id, scopes=("read",), until=later, made_at=moment)


def test_a_link_of_the_very_microsecond_is_void_and_one_of_the_next_is_not(officer: Member, server: str):
    user = secrets.token_hex(4)
    void = revoke_links(caller=officer.caller, user_id=user).void_until
    for moment, works in ((void - MICROSECOND, False), (void, False), (void + MICROSECOND, True)):
        assert opens(f"{server}/me/enter/{made_at(officer, user, moment)}") == works
        cookie = {"person": made_at(officer, user, moment)}
        assert (httpx.get(f"{server}/me/", cookies=cookie).status_code == 200) == works


def test_a_link_that_is_made_after_a_revocation_is_dated_after_it(officer: Member):
    """Also when the clock was set back meanwhile."""
    ahead = timezone.now() + timedelta(hours=1)
    subject = subject_of(tenant_id=officer.tenant.id, user_id="ann")
    revoke_links(caller=officer.caller, user_id="ann")
    with scope(officer.tenant.id):
        LinkRevocation.objects.filter(subject=subject).update(void_until=ahead)
    sealed = link_of(officer, "ann").path.rpartition("/")[2]
    visit = open_sealed(sealed, now=timezone.now())
    assert visit.made_at == ahead + MICROSECOND
    assert renewed(visit).made_at == visit.made_at
    assert revoke_links(caller=officer.caller, user_id="ann").void_until == ahead  # never earlier than before


def test_a_clock_of_the_web_server_that_is_ahead_makes_no_link_that_outlives_a_revocation(officer: Member):
    ahead = timezone.now() + timedelta(minutes=10)
    link = make_link(caller=officer.caller, user_id="ann", now=ahead)
    revoke(officer, "ann")
    assert not opens(f"{officer.http.base_url}{link.path}")


def test_a_moment_is_kept_to_the_microsecond(officer: Member):
    for microsecond in (1, 249_999, 999_999):
        moment = timezone.now().replace(microsecond=microsecond)
        assert open_sealed(made_at(officer, "ann", moment), now=timezone.now()).made_at == moment


# Tokens of the operator's issuer


def test_a_visit_by_a_token_ends_and_the_token_opens_nothing_more(door: str, officer: Member):
    slug, user = officer.tenant.slug, secrets.token_hex(4)
    issued = token(slug, sub=user, scope="read write privacy", iat=int(time.time()) - 1)
    url = f"{door}/me/enter/{issued}"
    browser, bearer = visiting(url), {"Authorization": f"Bearer {issued}"}
    assert httpx.get(f"{door}/me/", headers=bearer).status_code == 200
    revoke(officer, user)
    assert browser.get("/me/").status_code == 401
    assert not opens(url)
    assert httpx.get(f"{door}/me/", headers=bearer).status_code == 401
    assert httpx.get(f"{door}/api/v1/episodes", headers=bearer).status_code == 200  # elsewhere it counts


def test_a_token_of_the_second_of_a_revocation_may_be_older_and_is_void(door: str, officer: Member):
    user, second = secrets.token_hex(4), int(time.time()) - 5
    revoke(officer, user)
    subject = subject_of(tenant_id=officer.tenant.id, user_id=user)
    with scope(officer.tenant.id):
        LinkRevocation.objects.filter(subject=subject).update(
            void_until=datetime.fromtimestamp(second + 0.5, UTC)
        )
    for issued, works in ((second, False), (second + 1, True)):
        url = f"{door}/me/enter/{token(officer.tenant.slug, sub=user, scope='read', iat=issued)}"
        assert opens(url) == works


def test_a_visit_by_a_token_that_is_not_dated_ends_too(door: str, officer: Member):
    user = secrets.token_hex(4)
    url = f"{door}/me/enter/{token(officer.tenant.slug, sub=user, scope='read', iat=None)}"
    browser = visiting(url)
    revoke(officer, user)
    assert browser.get("/me/").status_code == 401
    assert opens(url)  # when it was issued nobody can tell: it ends with its own `exp`


def test_a_token_that_is_bound_to_an_agent_opens_nobodys_pages(door: str, officer: Member):
    bound = token(officer.tenant.slug, sub="ann", scope="read", agent_id="coder")
    assert not opens(f"{door}/me/enter/{bound}")
