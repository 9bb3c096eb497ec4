"""Who may call: keys, their scopes and their end; and nobody without one."""

import time
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tenants.api_keys import create_api_key, revoke_api_key
from tenants.errors import Unauthenticated
from tests.api.calls import CALLS
from tests.api.refusals import assert_refusal

SAMPLES = [
    "mem", "mem_", "mem__", "mem_0123456789abcdef", "mem_0123456789abcdef_", "mem_0123456789abcdef_wrong",
    "0123456789abcdef_secret", "mem_0123456789abcde%00_x", "mem_é123456789abcdef_x", "x" * 5_000, "null",
    "{}",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_without_a_key_every_route_is_closed(server, call):
    for path in (call.url(), call.url() + "/"):
        answer = httpx.request(call.method, server + path, json=call.body_for("s"))
        assert_refusal(answer, call, 401)
        assert answer.headers["www-authenticate"] == ("Bearer" if call.is_ams else 'Bearer realm="strata"')


@pytest.mark.parametrize("text", SAMPLES, ids=ascii)
@pytest.mark.parametrize("call", [CALLS[0], CALLS[-1]], ids=["aegis", "native"])
def test_what_is_no_key_opens_nothing(server, call, text):
    raw = text.encode()
    for headers in ({b"Authorization": b"Bearer " + raw}, {b"X-API-Key": raw}, {b"Authorization": raw},
                    {b"Authorization": b"Basic " + raw}):  # fmt: skip
        answer = httpx.request(call.method, server + call.url(), json=call.body_for("s"), headers=headers)
        assert_refusal(answer, call, 401)
        assert answer.headers["www-authenticate"] == 'Bearer realm="strata"'


def test_either_header_carries_the_key(acme):
    for headers in (
        {"Authorization": f"Bearer {acme.key}"},
        {"Authorization": f"bearer   {acme.key}"},
        {"X-API-Key": acme.key},
    ):
        assert httpx.get(f"{acme.http.base_url}/working-memory/c", headers=headers).status_code == 200


def test_a_key_with_another_ending_opens_nothing(acme):
    for wrong in (acme.key[:-1], acme.key + "x", acme.key.swapcase(), acme.key.replace("mem_", "mem_ ")):
        headers = {"Authorization": f"Bearer {wrong}"}
        assert httpx.get(f"{acme.http.base_url}/working-memory/c", headers=headers).status_code == 401


def test_an_expired_key_opens_nothing(acme):
    past = timezone.now() - timedelta(seconds=1)
    _key, text = create_api_key(tenant=acme.tenant, actor="test", expires_at=past)
    headers = {"Authorization": f"Bearer {text}"}
    assert httpx.get(f"{acme.http.base_url}/api/v1/sessions", headers=headers).status_code == 401


def test_a_key_expires_while_it_is_in_use(acme):
    ends = timezone.now() + timedelta(seconds=4)  # sooner than the server forgets what it knows of the key
    short = acme.with_key(expires_at=ends)
    assert short.http.get("/working-memory/c").status_code == 200
    time.sleep(max(0, (ends - timezone.now()).total_seconds()) + 0.1)
    answer = short.http.get("/working-memory/c")
    assert (answer.status_code, answer.json().keys()) == (401, {"detail"})


def test_a_revoked_key_is_refused_within_five_seconds(acme):
    key, text = create_api_key(tenant=acme.tenant, actor="test")
    http = httpx.Client(base_url=acme.http.base_url, headers={"Authorization": f"Bearer {text}"})
    assert http.get("/working-memory/c").status_code == 200
    revoke_api_key(key=key, actor="test", now=timezone.now())
    revoked = sent = time.monotonic()
    while (answer := http.get("/working-memory/c")).status_code == 200:
        assert sent < revoked + 5.2
        time.sleep(0.1)
        sent = time.monotonic()
    assert answer.status_code == 401
    assert acme.http.get("/working-memory/c").status_code == 200


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_key_needs_the_scope_of_the_route(long_lived, keys, call):
    for scopes, member in keys.items():
        answer = call.send(member, "scopes")
        needed = {call.scope, "read"} if call.asks_inside else {call.scope}
        allowed = (needed <= set(scopes) and not call.decides) or bool({"admin", call.or_scope} & set(scopes))
        if not allowed:
            assert_refusal(answer, call, 403)
        assert allowed or long_lived.http.get("/api/v1/sessions?user_id=nobody").is_success
        assert not allowed or answer.status_code in (200, 201, 202, 204, 404), answer.text


@pytest.fixture(scope="module")
def keys(long_lived):
    one_each = [("read",), ("write",), ("ingest",), ("privacy",), ("admin",)]
    return {scopes: long_lived.with_key(scopes=scopes) for scopes in one_each}


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call.scope == "write"], ids=lambda call: call.name
)
def test_a_key_that_only_reads_changes_nothing(acme, call):
    acme.http.put("/working-memory/s", json={"data": {"a": 1}})
    acme.http.post("/ledger/s/mark", json={"item_key": "skill:old"})
    assert_refusal(call.send(acme.with_key(scopes=("read",))), call, 403)
    assert acme.http.get("/working-memory/s").json() == {"a": 1}
    assert acme.http.get("/ledger/s").json() == {"skill:old": "1"}
    assert acme.http.get("/api/v1/sessions/s").json()["ended_at"] is None
    assert acme.http.get("/api/v1/sessions/s/events").json()["results"] == []
    # One that the call is about is made for it.
    versions = [one["version"] for one in acme.http.get("/api/v1/episodes").json()["results"]]
    is_record = call.path.startswith("/v1/long-term-memory/")
    assert versions == [1] * ("{episode}" in call.path or is_record)


def test_a_scope_that_does_not_exist_makes_no_key(acme):
    with pytest.raises(Exception, match="Scopes are"):
        acme.with_key(scopes=("root",))


def test_an_expired_key_is_refused_in_process_too(acme):
    with pytest.raises(Unauthenticated):
        acme.with_key(expires_at=timezone.now() - timedelta(seconds=1))
