"""JSON Web Tokens: who they make of their bearer, and that every wrong one is refused in the same words."""

import time

import jwt
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tenants import lookups
from tenants.errors import Unauthenticated
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.tokens import MAX_CHARACTERS, authenticate_token
from tests.tenants.issuer import (
    AUDIENCE,
    ISSUER,
    SECRET,
    base64url,
    claims_of,
    raw_token,
    token,
)


def test_a_token_leads_to_its_tenant_scopes_and_user(acme_tenant, shared_secret):
    for name in (acme_tenant.id, str(acme_tenant.id).upper(), acme_tenant.slug):
        caller = authenticate_token(token(name))
        assert (caller.tenant_id, caller.tenant) == (acme_tenant.id, acme_tenant.slug)
        assert caller.scopes == {"read", "write"}
        assert (caller.user_id, caller.agent_id, caller.project) == ("ann", "", "")
        assert (caller.kind, caller.principal) == ("jwt", "jwt:ann")


def test_agent_and_project_bind_the_caller(acme_tenant, shared_secret):
    caller = authenticate_token(token(acme_tenant.id, agent_id="ä 1", project="p"))
    assert (caller.user_id, caller.agent_id, caller.project) == ("ann", "ä 1", "p")


SERVICES = {
    "service:billing": {"sub": "billing"},
    "service:both": {"sub": "both", "azp": "other", "client_id": "another"},
    "client:billing": {"sub": None, "azp": "billing"},
    "client:first": {"sub": None, "azp": "first", "client_id": "second"},
    "client:second": {"sub": None, "client_id": "second"},
}


@pytest.mark.parametrize(("principal", "names"), SERVICES.items(), ids=SERVICES)
def test_a_service_reaches_every_user_and_goes_by_its_own_name(principal, names, acme_tenant, shared_secret):
    caller = authenticate_token(token(acme_tenant.id, scope="admin", agent_id="a", **names))
    assert (caller.user_id, caller.agent_id, caller.principal) == ("", "a", principal)
    assert caller.may("privacy")


def test_a_service_and_a_person_of_the_same_name_are_two_callers(acme_tenant, shared_secret):
    person, service = (authenticate_token(token(acme_tenant.id, scope=one)) for one in ("read", "admin"))
    assert (person.principal, service.principal) == ("jwt:ann", "service:ann")


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ({"sub": None}, "no_client_id"),
        ({"sub": None, "jti": "one token"}, "no_client_id"),
        ({"sub": "", "azp": "a"}, "sub"),
        ({"sub": None, "azp": ""}, "azp"),
        ({"sub": None, "azp": 7, "client_id": "a"}, "azp"),
        ({"sub": None, "client_id": "a" * 256}, "client_id"),
    ],
)
def test_a_service_that_goes_by_no_name_is_refused(names, why, acme_tenant, shared_secret, reason):
    assert reason(token(acme_tenant.id, scope="admin", **names)) == why


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("read", {"read"}),
        ("  read\twrite openid ", {"read", "write"}),
        (["read", "privacy", "openid", 7, None, {}], {"read", "privacy"}),
        ("read read", {"read"}),
    ],
)
def test_scopes_are_words_or_a_list_and_unknown_ones_are_ignored(scope, expected, acme_tenant, shared_secret):
    assert authenticate_token(token(acme_tenant.id, scope=scope)).scopes == expected


@pytest.mark.parametrize("scope", [None, "", "openid", "READ", "read,write", [], ["READ"], {"read": 1}, 7])
def test_a_token_without_any_of_our_scopes_is_refused(scope, acme_tenant, shared_secret, reason):
    assert reason(token(acme_tenant.id, scope=scope)) == "scope"


def in_seconds(seconds: float) -> int:
    return int(time.time() + seconds)


YEAR = 365 * 86_400  # seconds; some moments are reckoned when the file is read, long before its tests run

WRONG_CLAIMS = {
    "expired": ("expired", {"exp": in_seconds(-60)}),
    "without an end": ("no_exp", {"exp": None}),
    "not yet valid": ("not_yet_valid", {"nbf": in_seconds(YEAR)}),
    "from the future": ("not_yet_valid", {"iat": in_seconds(YEAR)}),
    "for another audience": ("audience", {"aud": "other"}),
    "for several others": ("audience", {"aud": ["other", "another"]}),
    "for nobody": ("no_aud", {"aud": None}),
    "an audience that is none": ("audience", {"aud": {"strata-tests": 1}}),
    "of another issuer": ("issuer", {"iss": "https://evil.example"}),
    "of no issuer": ("no_iss", {"iss": None}),
    "without a user": ("no_sub", {"sub": None}),
    "an empty user": ("sub", {"sub": ""}),
    "a long user": ("sub", {"sub": "x" * 256}),
    "NUL in the user": ("sub", {"sub": "an\0n"}),
    "half a character in the user": ("sub", {"sub": "\ud800"}),
    "without a tenant": ("no_tenant_id", {"tenant_id": None}),
    "a list for a tenant": ("tenant_id", {"tenant_id": ["acme"]}),
    "an unknown tenant": ("unknown_tenant", {"tenant_id": "nobody"}),
    "an unknown id": ("unknown_tenant", {"tenant_id": "01999999-0000-7000-8000-000000000000"}),
    "NUL for a tenant": ("tenant_id", {"tenant_id": "\0"}),
    "SQL for a tenant": ("unknown_tenant", {"tenant_id": "' OR true --"}),
    "an empty agent": ("agent_id", {"agent_id": ""}),
    "a number for an agent": ("agent_id", {"agent_id": 7}),
    "a long agent": ("agent_id", {"agent_id": "a" * 256}),
    "a list for a project": ("project", {"project": ["p"]}),
    "a long project": ("project", {"project": "p" * 201}),
}


@pytest.mark.parametrize(("expected", "claims"), WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_a_token_that_claims_something_wrong_is_refused(expected, claims, acme_tenant, shared_secret, reason):
    assert authenticate_token(token(acme_tenant.id))
    assert reason(token(**{"tenant": acme_tenant.id, **claims})) == expected


@pytest.mark.parametrize("claim", ["agent_id", "project", "sub", "exp", "tenant_id"])
def test_null_is_not_taken_for_a_claim_that_is_missing(claim, acme_tenant, shared_secret, reason):
    header = {"alg": "HS256", "typ": "JWT"}
    assert authenticate_token(raw_token(header, claims_of(acme_tenant.id)))
    assert reason(raw_token(header, {**claims_of(acme_tenant.id), claim: None}))


@pytest.mark.parametrize("value", ["99999999999", True, [], 1e400, float("nan"), -1])
def test_an_end_that_is_no_moment_is_refused(value, acme_tenant, shared_secret, reason):
    assert reason(raw_token({"alg": "HS256"}, {**claims_of(acme_tenant.id), "exp": value}))


def test_the_leeway_bridges_clocks_that_differ(acme_tenant, shared_secret, reason):
    assert authenticate_token(token(acme_tenant.id, exp=in_seconds(-2), nbf=in_seconds(2)))
    assert reason(token(acme_tenant.id, exp=in_seconds(-8))) == "expired"


def test_a_token_ends_while_it_is_in_use(acme_tenant, shared_secret, settings, reason):
    settings.JWT_LEEWAY_SECONDS = 0
    text = token(acme_tenant.id, exp=in_seconds(5))
    assert authenticate_token(text)
    time.sleep(5.1)
    assert reason(text) == "expired"


def test_without_the_setting_any_issuer_will_do(acme_tenant, shared_secret, settings):
    settings.JWT_ISSUER = ""
    assert authenticate_token(token(acme_tenant.id, iss="https://other.example"))
    assert authenticate_token(token(acme_tenant.id, iss=None))


def test_a_token_of_a_disabled_tenant_is_refused_within_five_seconds(
    acme_tenant, shared_secret, settings, reason, monkeypatch
):
    text = token(acme_tenant.id)
    authenticate_token(text)
    with admin_role():
        Tenant.objects.filter(id=acme_tenant.id).update(disabled_at=timezone.now())
    now = time.monotonic() + settings.API_KEY_CACHE_SECONDS
    monkeypatch.setattr(lookups, "time", type("Later", (), {"monotonic": staticmethod(lambda: now)}))
    assert reason(text) == "unknown_tenant"
    assert reason(token(acme_tenant.slug)) == "unknown_tenant"


def test_another_secret_opens_nothing(acme_tenant, shared_secret, reason):
    assert reason(token(acme_tenant.id, secret=SECRET[:-1])) == "signature"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", None, 7, ["HS256"], "HS384"])
def test_an_algorithm_that_is_not_allowed_opens_nothing(algorithm, acme_tenant, shared_secret, reason):
    claims = claims_of(acme_tenant.id)
    signed = raw_token({"alg": algorithm, "typ": "JWT"}, claims)
    unsigned = signed.rpartition(".")[0] + "."
    assert reason(signed) == reason(unsigned) == "algorithm"


def test_a_token_without_a_signature_opens_nothing(acme_tenant, shared_secret, reason):
    text = token(acme_tenant.id)
    assert reason(text.rpartition(".")[0] + ".") == "signature"
    assert reason(text.rpartition(".")[0])


def test_the_library_unsigned_token_opens_nothing(acme_tenant, shared_secret, reason):
    assert reason(jwt.encode(claims_of(acme_tenant.id), None, "none")) == "algorithm"


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_change_of_any_character_is_noticed(segment, acme_tenant, shared_secret, reason):
    parts = token(acme_tenant.id).split(".")
    for position, character in enumerate(parts[segment]):
        other = "A" if character != "A" else "B"
        changed = parts[segment][:position] + other + parts[segment][position + 1 :]
        assert reason(".".join([*parts[:segment], changed, *parts[segment + 1 :]]))


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_segments_of_two_tokens_make_no_third(segment, acme_tenant, globex_tenant, shared_secret, reason):
    one, other = (token(tenant.id).split(".") for tenant in (acme_tenant, globex_tenant))
    mixed = [*one]
    mixed[segment] = other[segment]
    if mixed != one:
        assert reason(".".join(mixed)) == "signature"


MALFORMED = [
    "", ".", "..", "...", "a", "a.b", "a.b.c", "e30.e30.", "bnVsbA.bnVsbA.x", "W10.W10.", "mem", "é.é.é",
    "\0", "\ud800", "=.=.=", "e30=.e30=.e30=", ".".join(["e30"] * 5), "a" * (MAX_CHARACTERS + 1),
    base64url(b"[" * 9_000).decode() + ".e30.e30",
    base64url(b'{"alg":"HS256","kid":7}').decode() + ".e30.e30",
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: ascii(text[:30]))
def test_what_is_no_token_is_refused(text, shared_secret, reason):
    assert reason(text) in ("malformed", "algorithm")


@pytest.mark.parametrize("payload", [[], None, "text", 7, b"{", b"\xff", b"[" * 9_000])
def test_a_signed_token_whose_claims_are_none_is_refused(payload, shared_secret, reason):
    assert reason(raw_token({"alg": "HS256"}, payload))


@pytest.mark.parametrize(
    "header",
    [{"crit": ["exp"]}, {"crit": []}, {"b64": False}, {"b64": False, "crit": ["b64"]}, {"kid": 7}],
)
def test_a_header_that_asks_for_something_special_is_refused(header, acme_tenant, shared_secret, reason):
    assert reason(raw_token({"alg": "HS256", **header}, claims_of(acme_tenant.id))) == "malformed"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
CLAIMS = [
    "tenant_id",
    "sub",
    "scope",
    "aud",
    "iss",
    "exp",
    "nbf",
    "iat",
    "agent_id",
    "project",
    "jti",
    "azp",
    "client_id",
]


@hypothesis_settings(max_examples=200, deadline=None)
@given(
    header=st.dictionaries(st.sampled_from(["alg", "kid", "crit", "typ", "b64", "jku", "jwk"]), _json),
    claims=st.dictionaries(st.sampled_from(CLAIMS), _json),
    keep=st.booleans(),
)
def test_whatever_is_signed_is_refused_or_let_in_and_never_a_failure(header, claims, keep, django_settings):
    base = claims_of("nobody") if keep else {}
    with pytest.raises(Unauthenticated):
        authenticate_token(raw_token({"alg": "HS256", **header}, {**base, **claims}))


@pytest.fixture(scope="module")
def django_settings(_database):
    """As `shared_secret`, for all examples of a property."""
    from django.test import override_settings

    with override_settings(
        JWT_ALGORITHMS=["HS256"], JWT_SECRET=SECRET, JWT_JWKS_URL="", JWT_AUDIENCE=AUDIENCE, JWT_ISSUER=ISSUER
    ):
        yield
