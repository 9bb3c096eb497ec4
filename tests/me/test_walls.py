"""Every page of a person's own, by the table of addresses: whoever has no link sees nothing, another site's
form changes nothing, and scopes hold."""

import re
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from console.me.urls import pages
from tenants.person_links import seal
from tests.console.people import TOKEN
from tests.me.conftest import Visitor

CALLS = [
    (str(one.pattern), method, scope)
    for one in pages
    if hasattr(one.callback, "view_class")
    for method, scope in one.callback.view_class.scopes.items()
]


def path_of(pattern: str, ann: Visitor) -> str:
    kind, memory_id = ann.memory("saffron").split("/")[1:3]
    path = "/" + pattern.replace("<slug:kind>", kind).replace("<slug:memory_id>", memory_id)
    if "<uuid:" in path:
        place = "conversations" if "session_row" in path else "documents"
        return "/me/" + re.search(rf'href="/me/({place}/[^"]+)"', ann.open(place).text)[1]
    return path


def send(http: httpx.Client, method: str, path: str, token: str = "") -> httpx.Response:
    return http.get(path) if method == "GET" else http.post(path, data={"csrfmiddlewaretoken": token})


@pytest.mark.parametrize(("pattern", "method", "scope"), CALLS)
def test_without_a_link_nothing_is_shown_or_done(pattern: str, method: str, scope: str, ann: Visitor):
    path = path_of(pattern, ann)
    with httpx.Client(base_url=ann.http.base_url) as nobody:
        answer = send(nobody, method, path)
    assert answer.status_code == (401 if method == "GET" else 403)
    assert "saffron" not in answer.text


@pytest.mark.parametrize("pattern", [pattern for pattern, method, _scope in CALLS if method == "POST"])
def test_a_form_of_another_site_is_refused(pattern: str, ann: Visitor):
    assert ann.http.post(path_of(pattern, ann)).status_code == 403


@pytest.mark.parametrize(("pattern", "method", "scope"), CALLS)
def test_a_token_reaches_what_its_scopes_say(pattern: str, method: str, scope: str, ann: Visitor):
    path, later = path_of(pattern, ann), timezone.now() + timedelta(hours=1)
    with httpx.Client(base_url=ann.http.base_url) as http:
        for mine in ("read", "write", "privacy"):
            now, scopes = timezone.now(), ["read", mine]
            sealed = seal(
                tenant=ann.member.tenant.slug, user_id="ann", scopes=scopes, until=later, made_at=now
            )
            http.cookies.set("person", sealed, path="/me")
            token = TOKEN.search(http.get("/me/").text).group(1)
            answer = send(http, method, path, token)
            assert (answer.status_code == 403) == (scope not in {"read", mine}), mine
            assert answer.status_code in {200, 302, 403, 404, 422}


@pytest.mark.parametrize(("pattern", "method", "scope"), CALLS)
def test_another_person_sees_nothing_of_it(pattern: str, method: str, scope: str, ann: Visitor):
    path, later = path_of(pattern, ann), timezone.now() + timedelta(hours=1)
    sealed = seal(
        tenant=ann.member.tenant.slug,
        user_id="bob",
        scopes=["read", "write", "privacy"],
        until=later,
        made_at=timezone.now(),
    )
    with httpx.Client(base_url=ann.http.base_url, cookies={"person": sealed}) as bob:
        token = TOKEN.search(bob.get("/me/").text).group(1)
        answer = send(bob, method, path, token)
    assert "saffron" not in answer.text
    assert "<" not in pattern or answer.status_code == 404 or answer.status_code == 422
    assert "saffron" in ann.open().text


@pytest.mark.parametrize("pattern", [pattern for pattern, method, _scope in CALLS if method == "GET"])
def test_no_cache_keeps_a_page_and_no_other_name_leads_to_it(pattern: str, ann: Visitor):
    path = path_of(pattern, ann)
    assert ann.http.get(path).headers["cache-control"] == "no-store"
    assert ann.http.get(path, headers={"Host": "elsewhere.test"}).status_code == 400
