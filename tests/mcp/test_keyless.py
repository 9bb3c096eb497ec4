"""Callers without a key, where a local server lets them in."""

import os

import httpx
import pytest

from tests.conftest import make_member
from tests.mcp.test_http import TYPES, message
from tests.plugin import HOME
from tests.processes import Web


@pytest.fixture(scope="module")
def demo(server):
    return make_member("demo", server)


@pytest.fixture(scope="module")
def door_of_demo(demo):
    """A server that takes keyless callers from loopback for that tenant."""
    web = Web({**os.environ, "MEMORY_ANONYMOUS_TENANT": demo.tenant.slug}, log=HOME / "mcp-keyless.log")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


def test_a_keyless_client_has_the_tools_of_the_named_tenant(door_of_demo, demo, acme):
    given = {"type": "config", "title": "Port", "content": "Strata listens on port 8002."}
    saved = httpx.post(f"{door_of_demo}/mcp", json=_call("mem_save", **given), headers=TYPES)
    assert saved.json()["result"]["content"][0]["text"] == "Saved [config] Port"
    for member, found in ((demo, "Found 1 memories:"), (acme, "No memories found")):
        answer = member.http.post("/mcp", json=_call("mem_search", query="port"), headers=TYPES)
        assert answer.json()["result"]["content"][0]["text"].startswith(found)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_another_web_page_cannot_use_the_open_door(door_of_demo, headers):
    """Not even one whose name was made to point here."""
    answer = httpx.post(f"{door_of_demo}/mcp", json=message(), headers=TYPES | headers)
    assert answer.status_code == 401


@pytest.mark.parametrize("headers", [{}, {"Host": "localhost"}, {"Sec-Fetch-Site": "same-origin"}])
def test_local_programs_and_our_own_pages_can(door_of_demo, headers):
    answer = httpx.post(f"{door_of_demo}/mcp", json=message(), headers=TYPES | headers)
    assert answer.status_code == 200


def _call(name, **arguments):
    return message("tools/call", name=name, arguments=arguments)
