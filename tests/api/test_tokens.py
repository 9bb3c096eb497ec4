"""JSON Web Tokens at the running server, in each dialect."""

import os
import time

import httpx
import pytest

from tests.api.calls import CALLS
from tests.api.refusals import assert_refusal
from tests.conftest import make_member
from tests.plugin import HOME
from tests.processes import Web
from tests.tenants.issuer import AUDIENCE, ISSUER, SECRET, JwksServer, jwk, signed_token, token

DIALECTS = {"aegis": CALLS[0], "native": CALLS[-1]}
each_dialect = pytest.mark.parametrize("call", DIALECTS.values(), ids=DIALECTS)


def start(name: str, **environment: str) -> Web:
    settings = {"JWT_AUDIENCE": AUDIENCE, "JWT_ISSUER": ISSUER, "JWT_LEEWAY_SECONDS": "0", **environment}
    return Web({**os.environ, **settings}, log=HOME / f"{name}.log")


@pytest.fixture(scope="module")
def door(_database):
    """A server that shares a secret with the issuer."""
    web = start("tokens", JWT_ALGORITHMS="HS256", JWT_SECRET=SECRET)
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


@pytest.fixture(scope="module")
def endpoint():
    server = JwksServer()
    server.keys = [jwk("a")]
    yield server
    server.stop()


@pytest.fixture(scope="module")
def jwks_door(_database, endpoint):
    """A server that takes what the published keys have signed."""
    web = start("jwks", JWT_ALGORITHMS="RS256", JWT_JWKS_URL=endpoint.url, JWKS_REFRESH_SECONDS="1")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


@pytest.fixture(scope="module")
def tenant(server):
    return make_member("acme", server)


def client(door: str, text: str) -> httpx.Client:
    return httpx.Client(base_url=door, headers={"Authorization": f"Bearer {text}"}, timeout=30)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_a_token_and_a_key_reach_the_same_memory(door, tenant):
    user = client(door, token(tenant.tenant.slug, sub="ann"))
    assert user.put("/working-memory/shared", json={"data": {"a": 1}}).status_code == 200
    key = client(door, tenant.key)
    assert key.get("/working-memory/shared", params={"user_id": "ann"}).json() == {"a": 1}


def test_a_tokens_user_reaches_the_own_rows_and_nobody_elses(door, tenant):
    ann, bob = (client(door, token(tenant.tenant.id, sub=name)) for name in ("ann", "bob"))
    for user in ("ann", "bob"):
        body = {"text": f"of {user}", "user_id": user}
        assert client(door, tenant.key).post("/api/v1/episodes", json=body).status_code == 201
    assert {one["user_id"] for one in ann.get("/api/v1/episodes").json()["results"]} == {"ann"}
    assert {one["user_id"] for one in bob.get("/api/v1/episodes").json()["results"]} == {"bob"}
    assert ann.get("/api/v1/episodes", params={"user_id": "bob"}).status_code == 403
    service = client(door, token(tenant.tenant.id, sub="job", scope="admin"))
    assert {one["user_id"] for one in service.get("/api/v1/episodes").json()["results"]} == {"ann", "bob"}


def test_a_token_reaches_its_tenant_alone(door, tenant, globex):
    client(door, token(tenant.tenant.id)).put("/working-memory/walled", json={"data": {"a": 1}})
    assert client(door, token(globex.tenant.id)).get("/working-memory/walled").json() == {}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_token_needs_the_scope_of_the_route(door, tenant, call):
    other = "read" if call.scope != "read" else "write"
    answer = httpx.request(
        call.method,
        door + call.url(),
        json=call.body_for("s"),
        headers=bearer(token(tenant.tenant.id, scope=other)),
    )
    assert_refusal(answer, call, 403)


def wrong_tokens(tenant: object) -> dict[str, str]:
    now = int(time.time())
    right = token(tenant)
    return {
        "expired": token(tenant, exp=now - 1),
        "not yet valid": token(tenant, nbf=now + 600),
        "wrongly signed": token(tenant, secret="x" * 40),
        "unsigned": right.rpartition(".")[0] + ".",
        "alg none": "eyJhbGciOiJub25lIn0." + right.split(".")[1] + ".",
        "other audience": token(tenant, aud="other"),
        "other issuer": token(tenant, iss="https://evil.example"),
        "no tenant": token(tenant, tenant_id=None),
        "no such tenant": token("nobody"),
        "no user": token(tenant, sub=None),
        "no scope": token(tenant, scope="openid"),
        "NUL": token(tenant, sub="a\0"),
        "nonsense": "nonsense",
        "long": "a" * 5_000,
        "asymmetric": signed_token(tenant, "a"),
    }


@each_dialect
@pytest.mark.parametrize("wrong", wrong_tokens("x"))
def test_a_wrong_token_is_a_401_in_the_dialects_shape_that_tells_no_reason(door, tenant, call, wrong):
    text = wrong_tokens(tenant.tenant.id)[wrong]
    answer = httpx.request(call.method, door + call.url(), json=call.body_for("s"), headers=bearer(text))
    assert_refusal(answer, call, 401)
    assert answer.json()["detail"] == "The token is not valid."
    assert answer.headers["www-authenticate"] == 'Bearer realm="strata"'
    assert wrong not in ("no such tenant",) or "nobody" not in answer.text


def test_the_log_tells_the_reason_and_no_token(door, tenant):
    text = token(tenant.tenant.id, exp=int(time.time()) - 1)
    before = (HOME / "tokens.log").stat().st_size
    assert client(door, text).get("/api/v1/sessions").status_code == 401
    log = (HOME / "tokens.log").read_text()[before:]
    assert "token_refused" in log
    assert "expired" in log
    assert text not in log
    assert text.split(".")[2] not in log


def test_a_token_is_no_key_and_a_wrong_key_is_no_token(door, tenant):
    text = token(tenant.tenant.id)
    answer = httpx.get(f"{door}/api/v1/sessions", headers={"X-API-Key": text})
    assert (answer.status_code, answer.json()["detail"]) == (401, "The API key is not valid.")
    answer = httpx.get(f"{door}/api/v1/sessions", headers=bearer("mem_" + text))
    assert (answer.status_code, answer.json()["detail"]) == (401, "The API key is not valid.")


def test_without_the_setting_no_token_is_taken(server, tenant):
    answer = httpx.get(f"{server}/api/v1/sessions", headers=bearer(token(tenant.tenant.id)))
    assert (answer.status_code, answer.json()["detail"]) == (401, "The API key is not valid.")


def test_published_keys_come_and_go(jwks_door, endpoint, tenant):
    old, new = (signed_token(tenant.tenant.id, key_id) for key_id in ("a", "b"))
    assert client(jwks_door, old).get("/api/v1/sessions").status_code == 200
    endpoint.keys = [jwk("a"), jwk("b")]
    assert client(jwks_door, new).get("/api/v1/sessions").status_code == 200
    endpoint.keys = [jwk("b")]
    deadline = time.monotonic() + 30
    while client(jwks_door, old).get("/api/v1/sessions").status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert client(jwks_door, new).get("/api/v1/sessions").status_code == 200
    endpoint.keys = [jwk("a"), jwk("b")]


def test_while_their_address_is_away_known_keys_serve_fast(jwks_door, endpoint, tenant):
    http = client(jwks_door, signed_token(tenant.tenant.id, "a"))
    deadline = time.monotonic() + 30
    while http.get("/api/v1/sessions").status_code != 200:  # another test may have withdrawn it
        assert time.monotonic() < deadline
        time.sleep(0.05)
    endpoint.stop()
    try:
        times = []
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            start_of_one = time.perf_counter()
            assert http.get("/working-memory/c").status_code == 200
            times.append(time.perf_counter() - start_of_one)
        assert sorted(times)[len(times) * 95 // 100] < 1
        unknown = client(jwks_door, signed_token(tenant.tenant.id, "unknown"))
        assert unknown.get("/working-memory/c").status_code == 401
    finally:
        endpoint.start()


def test_a_process_that_is_asked_first_during_an_outage_knows_the_keys(tenant):
    published = JwksServer()
    published.keys = [jwk("a")]
    web = start("jwks-early", JWT_ALGORITHMS="RS256", JWT_JWKS_URL=published.url)
    try:
        web.wait_until_alive()
        deadline = time.monotonic() + 60
        while not published.asked:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        published.stop()
        asked = client(web.url, signed_token(tenant.tenant.id, "a")).get("/api/v1/sessions")
        assert asked.status_code == 200
    finally:
        web.stop()
