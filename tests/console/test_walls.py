"""Every page against every role and the neighbouring tenant, by the table of addresses: a new page cannot be
forgotten."""

from typing import Any

import httpx
import pytest
from django.urls import URLPattern, reverse

from console.urls import pages
from tenants.members import SCOPES_OF
from tenants.models import Role
from tests.conftest import make_member
from tests.console.people import TOKEN, Person, signed_in
from tests.console.things import MAKERS, MARK

PAGES = {one.name: one for one in pages if one.name and one.name != "tenants"}
CALLS = [(name, method) for name, one in PAGES.items() for method in one.callback.view_class.scopes]


@pytest.fixture(scope="module")
def cast(server: str) -> dict[str, Person]:
    """One person of acme in each role, and globex' admin."""
    acme, globex = make_member("acme", server), make_member("globex", server)
    cast = {role: signed_in(acme.tenant, server, role) for role in SCOPES_OF}
    return cast | {"stranger": signed_in(globex.tenant, server, Role.ADMIN)}


@pytest.fixture(scope="module")
def made(cast: dict[str, Person]) -> dict[str, Any]:
    """acme's things, by the name in the address."""
    caller = make_caller(cast[Role.ADMIN])
    return {name: make(caller) for name, make in MAKERS.items()}


def make_caller(person: Person) -> Any:
    from tenants.api_keys import authenticate, create_api_key

    return authenticate(create_api_key(tenant=person.tenant, actor="test")[1])


def names_of(page: URLPattern) -> list[str]:
    return [name for name in page.pattern.converters if name != "tenant"]


def address(name: str, tenant: str, made: dict[str, Any]) -> str:
    values = {key: made[key] for key in names_of(PAGES[name])}
    return reverse(f"console:{name}", kwargs={"tenant": tenant, **values})


def send(person: Person, method: str, path: str) -> httpx.Response:
    if method == "GET":
        return person.http.get(path)
    person.token = person.token or TOKEN.search(person.open("").text).group(1)
    return person.http.post(path, data={"csrfmiddlewaretoken": person.token})


def needed(name: str, method: str) -> str:
    return PAGES[name].callback.view_class.scopes[method]


def test_every_name_in_an_address_has_a_maker():
    assert {name for page in PAGES.values() for name in names_of(page)} == set(MAKERS)


@pytest.mark.parametrize(("name", "method"), CALLS)
def test_a_role_opens_what_its_scopes_say(name, method, cast, made):
    for role, scopes in SCOPES_OF.items():
        answer = send(
            cast[role], method, address(name, cast[role].tenant.slug, fresh(name, method, made, cast))
        )
        may = needed(name, method) in scopes or "admin" in scopes
        assert (answer.status_code != 403) == may, (role, answer.status_code)
        assert not may or answer.status_code in {200, 302, 409, 422}, (
            role,
            answer.status_code,
            answer.text[-900:],
        )


def fresh(name: str, method: str, made: dict[str, Any], cast: dict[str, Person]) -> dict[str, Any]:
    """What a page may take away is made anew for each."""
    if method == "GET":
        return made
    caller = make_caller(cast[Role.ADMIN])
    return made | {key: MAKERS[key](caller) for key in names_of(PAGES[name])}


@pytest.mark.parametrize(("name", "method"), CALLS)
def test_a_neighbour_learns_nothing(name, method, cast, made):
    stranger = cast["stranger"]
    for tenant in (cast[Role.ADMIN].tenant.slug, stranger.tenant.slug):
        answer = send(stranger, method, address(name, tenant, made))
        assert MARK not in answer.text
        if tenant != stranger.tenant.slug or names_of(PAGES[name]):
            assert answer.status_code in ({404} if tenant != stranger.tenant.slug else {404, 422})


@pytest.mark.parametrize(("name", "method"), CALLS)
def test_whoever_is_not_signed_in_is_sent_to_sign_in(name, method, cast, made, server):
    path = address(name, cast[Role.ADMIN].tenant.slug, made)
    answer = httpx.request(method, f"{server}{path}")
    assert answer.status_code == (302 if method == "GET" else 403)
    assert method != "GET" or answer.headers["location"].startswith("/sign-in")


@pytest.mark.parametrize(("name", "method"), [call for call in CALLS if call[1] != "GET"])
def test_a_form_of_another_site_is_refused(name, method, cast, made):
    admin = cast[Role.ADMIN]
    assert admin.http.post(address(name, admin.tenant.slug, made)).status_code == 403


@pytest.mark.parametrize("name", PAGES)
def test_other_methods_are_refused(name, cast, made):
    admin = cast[Role.ADMIN]
    path = address(name, admin.tenant.slug, made)
    assert admin.http.delete(path).status_code in {403, 405}


@pytest.mark.parametrize("name", [name for name, method in CALLS if method == "GET"])
def test_a_page_says_what_a_browser_may_do(name, cast, made):
    answer = send(cast[Role.ADMIN], "GET", address(name, cast[Role.ADMIN].tenant.slug, made))
    policy = answer.headers.get("content-security-policy", "")
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy or not answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-store"
    assert " style=" not in answer.text
    assert "onclick=" not in answer.text
