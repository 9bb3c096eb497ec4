"""Signing in and out, by the form that people use."""

import html
import re
import secrets

import httpx
import pytest
from django.contrib.auth.models import User

from tenants.members import add_member
from tenants.models import Role
from tenants.router import admin_role
from tests.conftest import Member
from tests.console.people import TOKEN, Person


@pytest.fixture(scope="module")
def password() -> str:
    return secrets.token_urlsafe(12)


@pytest.fixture
def user(acme: Member, password: str) -> User:
    with admin_role():
        user = User.objects.create_user(f"ann-{secrets.token_hex(4)}", password=password)
    add_member(tenant=acme.tenant, user=user, role=Role.VIEWER, actor="test")
    return user


def attempt(http: httpx.Client, name: str, password: str, target: str = "") -> httpx.Response:
    page = http.get("/sign-in", params={"next": target})
    token = TOKEN.search(page.text).group(1)
    fields = {"csrfmiddlewaretoken": token, "username": name, "password": password, "next": target}
    return http.post("/sign-in", data=fields)


@pytest.fixture
def visitor(server: str):
    with httpx.Client(base_url=server) as http:
        yield http


def test_whoever_signs_in_comes_to_the_only_tenant(visitor, user, password, acme):
    assert attempt(visitor, user.username, password).headers["location"] == "/console/"
    assert visitor.get("/console").headers["location"] == f"/console/{acme.tenant.slug}"
    assert visitor.get(f"/console/{acme.tenant.slug}").status_code == 200


def test_a_session_id_that_was_planted_is_worth_nothing(visitor, user, password, server, acme):
    visitor.headers["Cookie"] = f"sessionid={'p' * 32}"
    page = visitor.get("/sign-in")
    token, cookie = TOKEN.search(page.text).group(1), page.cookies["csrftoken"]
    visitor.headers["Cookie"] = f"sessionid={'p' * 32}; csrftoken={cookie}"
    fields = {"csrfmiddlewaretoken": token, "username": user.username, "password": password}
    assert visitor.post("/sign-in", data=fields).cookies["sessionid"] != "p" * 32
    planted = httpx.get(f"{server}/console/{acme.tenant.slug}", cookies={"sessionid": "p" * 32})
    assert planted.status_code == 302


def test_whoever_signs_in_comes_back_to_the_very_list(visitor, user, password, acme):
    wanted = f"/console/{acme.tenant.slug}/observations?type=bugfix&q=x"
    sent = visitor.get(wanted).headers["location"]
    page = visitor.get(sent)
    fields = {"csrfmiddlewaretoken": TOKEN.search(page.text).group(1), "username": user.username}
    target = html.unescape(re.search(r'name="next" value="([^"]*)"', page.text)[1])
    done = visitor.post("/sign-in", data=fields | {"password": password, "next": target})
    assert done.headers["location"] == wanted


def test_the_admin_has_no_door_of_its_own_to_guess_at(visitor, user, password):
    for _ in range(10):
        attempt(visitor, user.username, "wrong")
    assert visitor.get("/admin/login/?next=/admin/").headers["location"] == "/sign-in?next=/admin/"
    assert visitor.post("/admin/login/", data={"username": user.username}).status_code in {302, 403}


def test_the_session_ends_at_the_server_with_signing_out(visitor, user, password, server, acme):
    attempt(visitor, user.username, password)
    kept = visitor.cookies["sessionid"]
    page = visitor.get(f"/console/{acme.tenant.slug}")
    token = TOKEN.search(page.text).group(1)
    assert visitor.post("/sign-out", data={"csrfmiddlewaretoken": token}).status_code == 302
    again = httpx.get(f"{server}/console/{acme.tenant.slug}", cookies={"sessionid": kept})
    assert again.headers["location"].startswith("/sign-in")


def test_cookies_are_kept_from_scripts_and_other_sites(visitor, user, password):
    answer = attempt(visitor, user.username, password)
    session = next(one for one in answer.headers.get_list("set-cookie") if one.startswith("sessionid"))
    assert "HttpOnly" in session
    assert "SameSite=Lax" in session


@pytest.mark.parametrize("target", ["https://example.org/", "//example.org", "javascript:alert(1)"])
def test_nobody_is_sent_to_another_site(visitor, user, password, target):
    assert attempt(visitor, user.username, password, target).headers["location"] == "/console/"


def test_after_too_many_failures_even_the_right_password_must_wait(visitor, user, password):
    for _ in range(10):
        assert attempt(visitor, user.username, "wrong").status_code == 422
    refused = attempt(visitor, user.username, password)
    assert refused.status_code == 429
    assert "Too many failed sign-ins" in refused.text


def test_a_form_from_elsewhere_is_refused(visitor, user, password):
    assert visitor.post("/sign-in", data={"username": user.username, "password": password}).status_code == 403


def test_the_session_opens_no_page_of_a_tenant_that_the_person_is_no_member_of(
    editor: Person, globex: Member
):
    assert editor.http.get(f"/console/{globex.tenant.slug}").status_code == 404
