"""Callers without a key, where a local server lets them in."""

import os

import httpx
import pytest

from tenants.anonymous import anonymous_caller
from tenants.errors import Unauthenticated
from tests.api.calls import CALLS
from tests.api.refusals import assert_refusal
from tests.conftest import make_member
from tests.plugin import HOME
from tests.processes import Web


@pytest.fixture(scope="module")
def demo(server):
    """The tenant of keyless callers, with a key to look at it."""
    return make_member("demo", server)


@pytest.fixture(scope="module")
def door(demo):
    """A server that takes keyless callers from loopback for that tenant."""
    web = Web({**os.environ, "MEMORY_ANONYMOUS_TENANT": demo.tenant.slug}, log=HOME / "keyless.log")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


def test_a_keyless_caller_is_the_named_tenant(door, demo, acme):
    assert httpx.put(f"{door}/working-memory/c", json={"data": {"a": 1}}).status_code == 200
    assert httpx.get(f"{door}/working-memory/c").json() == {"a": 1}
    assert demo.http.get("/working-memory/c").json() == {"a": 1}
    assert acme.http.get("/working-memory/c").json() == {}


def test_a_key_still_decides(door, acme):
    headers = {"Authorization": f"Bearer {acme.key}"}
    assert httpx.put(f"{door}/working-memory/k", json={"data": {"a": 1}}, headers=headers).status_code == 200
    assert acme.http.get("/working-memory/k").json() == {"a": 1}
    assert httpx.get(f"{door}/working-memory/k").json() == {}


@pytest.mark.parametrize(
    "headers", [{"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}, {"Authorization": "Basic eA=="}]
)
def test_a_wrong_key_is_not_taken_for_none(door, headers):
    assert httpx.get(f"{door}/working-memory/c", headers=headers).status_code == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_another_web_page_cannot_use_the_open_door(door, call, site):
    headers = {"Sec-Fetch-Site": site}
    answer = httpx.request(call.method, door + call.url(), json=call.body_for("s"), headers=headers)
    assert_refusal(answer, call, 401)


def test_nor_can_a_page_whose_name_was_made_to_point_here(door):
    headers = {"Host": "evil.example", "Sec-Fetch-Site": "same-origin"}
    assert httpx.get(f"{door}/working-memory/c", headers=headers).status_code in (400, 401)


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_a_browser_on_our_own_page_can(door, site):
    assert httpx.get(f"{door}/working-memory/c", headers={"Sec-Fetch-Site": site}).status_code == 200


def test_a_keyless_caller_is_no_admin(door):
    answer = httpx.post(f"{door}/api/v1/recall", json={"query": "everything about everybody"})
    assert answer.status_code == 422


def test_without_the_setting_the_door_is_closed(server):
    assert httpx.get(f"{server}/working-memory/c").status_code == 401


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_let_in(settings, demo, address):
    settings.MEMORY_ANONYMOUS_TENANT = demo.tenant.slug
    caller = anonymous_caller(address=address, from_other_site=False)
    assert (caller.tenant_id, caller.scopes) == (demo.tenant.id, {"read", "write"})


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "192.168.1.2", "::ffff:10.0.0.1", "fe80::1", "8.8.8.8", "", "localhost", "unix:"]
)
def test_nobody_else_is(settings, demo, address):
    settings.MEMORY_ANONYMOUS_TENANT = demo.tenant.slug
    with pytest.raises(Unauthenticated):
        anonymous_caller(address=address, from_other_site=False)


def test_named_networks_are_let_in_instead(settings, demo):
    settings.MEMORY_ANONYMOUS_TENANT = demo.tenant.slug
    settings.MEMORY_ANONYMOUS_NETWORKS = ["10.0.0.0/8"]
    assert anonymous_caller(address="10.1.2.3", from_other_site=False).tenant_id == demo.tenant.id
    with pytest.raises(Unauthenticated):
        anonymous_caller(address="127.0.0.1", from_other_site=False)


def test_a_tenant_that_does_not_exist_lets_nobody_in(settings):
    settings.MEMORY_ANONYMOUS_TENANT = "no-such-tenant"
    with pytest.raises(Unauthenticated):
        anonymous_caller(address="127.0.0.1", from_other_site=False)
