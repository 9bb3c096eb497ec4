"""Callers without a key: from named networks only, and never on behalf of another web page."""

import pytest
from django.test import RequestFactory
from django.utils import timezone

from api.authentication import caller_of
from tenants.anonymous import anonymous_caller
from tenants.errors import Unauthenticated
from tenants.models import Tenant
from tenants.router import admin_role


@pytest.fixture
def open_house(settings, acme_tenant) -> Tenant:
    settings.MEMORY_ANONYMOUS_TENANT = acme_tenant.slug
    settings.MEMORY_ANONYMOUS_NETWORKS = []
    return acme_tenant


def is_let_in(address: str, *, from_other_site: bool = False) -> bool:
    try:
        anonymous_caller(address=address, from_other_site=from_other_site)
    except Unauthenticated:
        return False
    return True


def test_the_anonymous_caller_reads_and_writes_in_the_named_tenant_and_no_more(open_house):
    caller = anonymous_caller(address="127.0.0.1", from_other_site=False)
    assert (caller.tenant_id, caller.tenant) == (open_house.id, open_house.slug)
    assert caller.scopes == {"read", "write"}
    assert not any(caller.may(scope) for scope in ("ingest", "privacy", "admin"))


def test_the_tenant_may_be_named_by_its_id(open_house, settings):
    settings.MEMORY_ANONYMOUS_TENANT = str(open_house.id)
    caller = anonymous_caller(address="127.0.0.1", from_other_site=False)
    assert (caller.tenant_id, caller.tenant) == (open_house.id, open_house.slug)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_let_in(address, open_house):
    assert is_let_in(address)


STRANGERS = ["10.0.0.1", "128.0.0.1", "0.0.0.0", "::", "::2", "::ffff:10.0.0.1", "2001:db8::1"]
NO_ADDRESSES = ["", "localhost", "127.0.0.1, 10.0.0.1", "127.1", "unix:"]


@pytest.mark.parametrize("address", STRANGERS + NO_ADDRESSES)
def test_no_other_address_is_let_in_while_no_network_is_named(address, open_house):
    assert not is_let_in(address)


def test_named_networks_take_the_place_of_loopback(open_house, settings):
    settings.MEMORY_ANONYMOUS_NETWORKS = ["10.1.0.0/16", "2001:db8::/32", "192.0.2.7"]
    for address in ("10.1.255.255", "::ffff:10.1.2.3", "2001:db8:1::1", "192.0.2.7"):
        assert is_let_in(address), address
    for address in ("10.2.0.0", "127.0.0.1", "::1", "2001:db9::1", "192.0.2.8"):
        assert not is_let_in(address), address


def test_nobody_is_let_in_without_the_setting(open_house, settings):
    settings.MEMORY_ANONYMOUS_TENANT = ""
    assert not is_let_in("127.0.0.1")


def test_nobody_is_let_into_a_tenant_that_is_disabled_or_does_not_exist(open_house, settings):
    with admin_role():
        Tenant.objects.filter(id=open_house.id).update(disabled_at=timezone.now())
    assert not is_let_in("127.0.0.1")
    settings.MEMORY_ANONYMOUS_TENANT = "nobody"
    assert not is_let_in("127.0.0.1")


def test_a_request_for_another_web_page_is_not_let_in(open_house):
    assert not is_let_in("127.0.0.1", from_other_site=True)


def asked(**meta: str) -> bool:
    """Whether a request from loopback without a key has a caller."""
    try:
        caller_of(RequestFactory().get("/", REMOTE_ADDR="127.0.0.1", **meta))
    except Unauthenticated:
        return False
    return True


@pytest.mark.parametrize(
    ("site", "expected"),
    [("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False)],
)
def test_the_browser_tells_for_whom_it_asks(site, expected, open_house):
    assert asked(HTTP_SEC_FETCH_SITE=site) is expected


def test_a_program_that_says_nothing_of_sites_is_let_in(open_house):
    assert asked()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8002", "127.0.0.1.evil.example"])
def test_a_page_whose_name_was_rebound_to_this_machine_is_not_let_in(host, open_house, settings):
    """The browser sends such a request as the page's own; only the Host header gives it away."""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    assert not asked(HTTP_HOST=host, HTTP_SEC_FETCH_SITE="same-origin")
    assert asked(HTTP_HOST="localhost:8002", HTTP_SEC_FETCH_SITE="same-origin")


def test_a_wrong_key_is_refused_and_not_taken_for_none(open_house):
    for headers in (
        {"HTTP_AUTHORIZATION": "Bearer mem_wrong"},
        {"HTTP_X_API_KEY": "x"},
        {"HTTP_AUTHORIZATION": "Basic"},
    ):
        assert not asked(**headers)
