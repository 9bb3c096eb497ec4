"""Getting to one's own pages, and nobody else's."""

import re
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tenants.person_links import seal
from tests.conftest import Member
from tests.console.people import TOKEN
from tests.me.conftest import Visitor, link_for


def test_a_link_leads_to_ones_own_memories_and_tells_nobody_whose_they_are(ann: Visitor):
    assert "ann-of-the-lantern" not in link_for(ann.member, "ann-of-the-lantern")
    page = ann.open()
    assert "Lisbon" in page.text
    assert "Bob has a secret" not in page.text


def test_the_address_bar_keeps_no_token_and_scripts_no_cookie(ann: Visitor):
    answer = httpx.get(ann.url)
    assert answer.headers["location"] == "/me/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "Path=/me" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("token", ["x", "gAAAA" + "A" * 200, "a.b.c", "%F0%9F%92%A9"])
def test_what_is_no_link_of_ours_is_refused(token: str, server: str):
    assert httpx.get(f"{server}/me/enter/{token}").status_code in {401, 404}


def test_a_changed_link_is_refused(ann: Visitor):
    broken = ann.url[:-10] + ("B" if ann.url[-10] == "A" else "A") + ann.url[-9:]
    assert httpx.get(broken).status_code == 401


def test_an_expired_link_or_visit_is_refused(ann: Visitor, server: str):
    ago = timezone.now() - timedelta(seconds=1)
    token = seal(tenant=ann.member.tenant.slug, user_id="ann", scopes=("read",), until=ago, made_at=ago)
    assert httpx.get(f"{server}/me/enter/{token}").status_code == 401
    assert httpx.get(f"{server}/me/", cookies={"person": token}).status_code == 401


def test_without_a_link_nothing_is_shown(server: str):
    answer = httpx.get(f"{server}/me/")
    assert answer.status_code == 401
    assert "Open the link that you were sent" in answer.text


def test_a_visit_with_scope_read_changes_nothing(ann: Visitor, server: str):
    later = timezone.now() + timedelta(hours=1)
    token = seal(
        tenant=ann.member.tenant.slug, user_id="ann", scopes=("read",), until=later, made_at=timezone.now()
    )
    with httpx.Client(base_url=server, cookies={"person": token}) as http:
        assert http.get("/me/").status_code == 200
        assert http.get("/me/rights").status_code == 403
        assert http.get(f"/me/{ann.memory('Lisbon')}/forget").status_code == 403


def test_leaving_forgets_the_visit(ann: Visitor):
    page = ann.submit("leave", at="")
    assert page.status_code == 200
    assert ann.open().status_code == 401


def test_a_link_does_not_put_another_person_in_ones_place_unseen(ann: Visitor):
    other = link_for(ann.member, "bob")
    asked = ann.http.get(other)
    assert "Another person" in asked.text
    assert "Lisbon" in ann.open().text
    token = TOKEN.search(asked.text).group(1)
    assert ann.http.post(other, data={"csrfmiddlewaretoken": token}).status_code == 302
    assert "Bob has a secret" in ann.open().text


def test_a_key_without_scope_privacy_makes_no_link(acme: Member):
    answer = acme.with_key(scopes=["read", "write"]).http.post("/api/v1/subjects/ann/link", json={})
    assert answer.status_code == 403


def test_how_long_a_link_works_can_be_said(acme: Member):
    officer = acme.with_key(scopes=["privacy"])
    assert link_for(officer, "ann", seconds=60)
    assert officer.http.post("/api/v1/subjects/ann/link", json={"seconds": 5}).status_code == 422


def test_whoever_looks_after_people_makes_links_and_it_is_audited(ann: Visitor):
    entries = ann.member.http.get("/api/v1/audit", params={"action": "subject.link"}).json()["results"]
    assert entries
    assert all(re.fullmatch(r"subject:[0-9a-f]{12}", one["target"]) for one in entries)
