"""Where the original is broken or silent: who may ask, by REST and by MCP."""

from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tenants import api_keys, lookups
from tenants.api_keys import authenticate
from tests.ams.asking import SESSION, put

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
TYPES = {"Accept": "application/json, text/event-stream"}


def keys_of(text: str) -> list[dict[str, str]]:
    return [{"Authorization": f"Bearer {text}"}, {"X-API-Key": text}]


def rest(url: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.get(url + SESSION, headers=headers, timeout=30)


def mcp(url: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.post(f"{url}/mcp", json=LIST, headers=TYPES | headers, timeout=30)


@pytest.mark.parametrize("ask", [rest, mcp])
def test_either_header_opens_and_nothing_else_does(acme, ask):
    """Row: auth."""
    put(acme, "hello")
    url = str(acme.http.base_url).rstrip("/")
    assert [ask(url, headers).status_code for headers in keys_of(acme.key)] == [200, 200]
    for headers in ({}, *keys_of("wrong"), *keys_of(f"{acme.key}x"), {"Authorization": f"Basic {acme.key}"}):
        assert ask(url, headers).status_code == 401, headers


@pytest.mark.parametrize("ask", [rest, mcp])
def test_a_key_reaches_its_tenant_alone(acme, globex, ask):
    """Row: auth."""
    put(acme, "hello")
    url = str(acme.http.base_url).rstrip("/")
    answers = [ask(url, keys_of(member.key)[0]).status_code for member in (acme, globex)]
    assert answers == ([200, 404] if ask is rest else [200, 200])


def test_a_key_that_only_reads_writes_nothing(acme):
    """Row: auth."""
    put(acme, "hello")
    reader = acme.with_key(scopes=("read",))
    assert reader.http.get(SESSION).status_code == 200
    answer = put(reader, "bye")
    assert (answer.status_code, answer.json()["detail"]) == (403, "This needs a key with scope write.")


def test_without_a_key_whoever_is_configured_to_be_let_in_is(acme, settings):
    """Row: auth. It is on unless a tenant is named for those who send none."""
    stranger = Client()
    assert stranger.get("/v1/working-memory/").status_code == 401
    settings.MEMORY_ANONYMOUS_TENANT = acme.tenant.slug
    assert stranger.get("/v1/working-memory/").json() == {"sessions": [], "total": 0}
    put(acme, "hello")
    assert stranger.get("/v1/working-memory/").json() == {"sessions": ["s"], "total": 1}
    assert stranger.get("/v1/working-memory/", headers={"X-API-Key": "wrong"}).status_code == 401


def test_a_key_is_looked_up_by_one_query_and_then_known(acme, monkeypatch):
    """Row: auth."""
    monkeypatch.setattr(api_keys, "_cache", lookups.LookupCache())
    monkeypatch.setattr(lookups, "time", StandingClock())
    with CaptureQueriesContext(connection) as queries:
        callers = [authenticate(acme.key) for _time in range(100)]
    assert {caller.tenant_id for caller in callers} == {acme.tenant.id}
    asked = [one["sql"] for one in queries.captured_queries if "tenants_find_api_key" in one["sql"]]
    assert len(asked) == 1


def test_a_key_that_has_expired_is_wrong(acme):
    """Row: wrong key."""
    late = timezone.now() - timedelta(seconds=1)
    _key, expired = api_keys.create_api_key(tenant=acme.tenant, actor="test", expires_at=late)
    for headers in (*keys_of(expired), *keys_of("wrong")):
        answer = rest(str(acme.http.base_url).rstrip("/"), headers)
        assert (answer.status_code, answer.json()) == (401, {"detail": "Invalid token"})
        assert "www-authenticate" not in answer.headers


class StandingClock:
    """Nothing grows old."""

    def monotonic(self) -> float:
        return 1.0
