"""API keys: made once, shown once, refused for every reason in the same words."""

import hashlib
import hmac
import time
from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from tenants import api_keys, lookups
from tenants.api_keys import authenticate, create_api_key, revoke_api_key
from tenants.errors import Invalid, Unauthenticated
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role

REFUSAL = "The API key is not valid."


@pytest.fixture
def clock(monkeypatch):
    """Moves the key cache's clock."""

    class Clock:
        now = time.monotonic()

        def monotonic(self) -> float:
            return self.now

    clock = Clock()
    monkeypatch.setattr(lookups, "time", clock)
    return clock


@pytest.fixture
def questions(monkeypatch) -> list[str]:
    """The key ids that PostgreSQL was asked for."""
    asked: list[str] = []
    find = api_keys._find

    def find_and_note(key_id: str):
        asked.append(key_id)
        return find(key_id)

    monkeypatch.setattr(api_keys, "_find", find_and_note)
    return asked


@pytest.fixture(autouse=True)
def _fresh_cache(monkeypatch):
    monkeypatch.setattr(api_keys, "_cache", lookups.LookupCache())


def refused(text: str) -> bool:
    with pytest.raises(Unauthenticated) as caught:
        authenticate(text)
    return str(caught.value) == REFUSAL


def test_a_key_leads_to_its_tenant_scopes_and_bindings(acme_tenant):
    _key, text = create_api_key(
        tenant=acme_tenant, actor="test", scopes=("read", "privacy"), user_id="ü 1", agent_id="a", project="p"
    )
    caller = authenticate(text)
    assert (caller.tenant_id, caller.tenant) == (acme_tenant.id, acme_tenant.slug)
    assert caller.scopes == {"read", "privacy"}
    assert (caller.user_id, caller.agent_id, caller.project) == ("ü 1", "a", "p")
    assert caller.key_id in text


def test_only_the_hash_of_the_secret_is_stored(acme_tenant):
    key, text = create_api_key(tenant=acme_tenant, actor="test")
    secret = text.split("_", 2)[2]
    with admin_role():
        row = ApiKey.objects.filter(id=key.id).values().get()
    assert row["secret_hash"] == hashlib.sha256(secret.encode()).hexdigest()
    assert not any(secret in str(value) for value in row.values())
    assert len(secret) >= 43  # 256 random bits


def test_no_two_keys_are_alike(acme_tenant):
    made = [create_api_key(tenant=acme_tenant, actor="test") for _ in range(5)]
    assert len({text for _key, text in made}) == len({key.secret_hash for key, _text in made}) == 5


def test_hashes_are_compared_in_constant_time(acme_tenant, monkeypatch):
    _key, text = create_api_key(tenant=acme_tenant, actor="test")
    compared = []

    def compare(a: str, b: str) -> bool:
        compared.append((a, b))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr(api_keys, "hmac", type("Watched", (), {"compare_digest": staticmethod(compare)}))
    authenticate(text)
    assert refused(text[:-1] + ("A" if text[-1] != "A" else "B"))
    assert len(compared) == 2
    assert all(len(a) == len(b) == 64 for a, b in compared)


def test_a_wrong_secret_is_refused_also_when_it_is_another_keys(acme_tenant, globex_tenant):
    _a, mine = create_api_key(tenant=acme_tenant, actor="test")
    _b, theirs = create_api_key(tenant=globex_tenant, actor="test")
    prefix, key_id, _secret = theirs.split("_", 2)
    assert refused(f"{prefix}_{key_id}_{mine.split('_', 2)[2]}")
    assert refused(mine[:-1])
    assert refused(mine + "A")


def test_an_unknown_id_is_refused_and_not_remembered(acme_tenant, questions):
    unknown = f"mem_{'0' * 16}_{'s' * 43}"
    assert refused(unknown)
    assert refused(unknown)
    assert questions == ["0" * 16] * 2
    assert not api_keys._cache._kept


def test_an_expired_key_is_refused_from_that_moment_on(acme_tenant, monkeypatch):
    soon = timezone.now() + timedelta(seconds=60)
    _key, text = create_api_key(tenant=acme_tenant, actor="test", expires_at=soon)
    assert authenticate(text)
    monkeypatch.setattr(api_keys.timezone, "now", lambda: soon)
    assert refused(text)  # though its record is still in the cache
    _key, late = create_api_key(tenant=acme_tenant, actor="test", expires_at=soon - timedelta(days=1))
    assert refused(late)


def test_a_revoked_key_is_refused_within_five_seconds(acme_tenant, clock):
    key, text = create_api_key(tenant=acme_tenant, actor="test")
    authenticate(text)
    revoke_api_key(key=key, actor="test", now=timezone.now())
    assert settings.API_KEY_CACHE_SECONDS <= 5
    clock.now += settings.API_KEY_CACHE_SECONDS
    assert refused(text)


def test_a_revocation_that_a_slow_database_overtakes_still_holds_within_five_seconds(
    acme_tenant, clock, monkeypatch
):
    """The five seconds count from before the record was read."""
    key, text = create_api_key(tenant=acme_tenant, actor="test")
    find = api_keys._find

    def find_slowly(key_id: str):
        record = find(key_id)
        revoke_api_key(key=key, actor="test", now=timezone.now())
        clock.now += 3
        return record

    monkeypatch.setattr(api_keys, "_find", find_slowly)
    authenticate(text)
    monkeypatch.setattr(api_keys, "_find", find)
    clock.now += settings.API_KEY_CACHE_SECONDS - 3
    assert refused(text)


def test_the_keys_of_a_disabled_tenant_are_refused(acme_tenant, clock):
    _key, text = create_api_key(tenant=acme_tenant, actor="test")
    authenticate(text)
    with admin_role():
        Tenant.objects.filter(id=acme_tenant.id).update(disabled_at=timezone.now())
    clock.now += 5
    assert refused(text)


def test_a_key_is_looked_up_once_while_it_is_fresh(acme_tenant, clock, questions):
    key, text = create_api_key(tenant=acme_tenant, actor="test")
    for _ in range(10):
        authenticate(text)
    assert questions == [key.key_id]
    clock.now += settings.API_KEY_CACHE_SECONDS
    authenticate(text)
    assert questions == [key.key_id] * 2


def test_the_cache_never_holds_more_than_its_limit(acme_tenant, monkeypatch):
    monkeypatch.setattr(api_keys, "_cache", lookups.LookupCache(limit=3))
    texts = [create_api_key(tenant=acme_tenant, actor="test")[1] for _ in range(8)]
    for text in texts * 2:
        assert authenticate(text).tenant_id == acme_tenant.id
        assert len(api_keys._cache._kept) <= 3


MALFORMED = {
    "nothing": "",
    "blank": " ",
    "no parts": "mem",
    "no secret": "mem_0123456789abcdef_",
    "no id": "mem__secret",
    "another prefix": "key_0123456789abcdef_secret",
    "a short id": "mem_0123_secret",
    "a long id": f"mem_{'0' * 17}_secret",
    "an id that is no hexadecimal": "mem_0123456789abcdeg_secret",
    "an id in capitals": "mem_0123456789ABCDEF_secret",
    "foreign digits": "mem_" + "\u0660" * 16 + "_secret",
    "NUL in the id": "mem_0123456789abcde\0_secret",
    "NUL in the secret": "mem_0123456789abcdef_sec\0ret",
    "NUL alone": "\0",
    "half a character": "mem_0123456789abcdef_\ud800",
    "accents": "mem_0123456789abcdef_sécret",
    "a line break at the end": "mem_0123456789abcdef_secret\n",
    "a space before": " mem_0123456789abcdef_secret",
    "a very long secret": f"mem_0123456789abcdef_{'s' * 10_000_000}",
    "a very long nothing": "_" * 10_000_000,
    "SQL": "mem_' OR 1=1 -- ab'_secret",
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_key_is_refused_without_asking_the_database(text, questions):
    assert refused(text)
    assert questions == []


def test_a_malformed_key_is_a_401_over_the_wire(server):
    for key in ("mem_é", "mem_0123456789abcdef_" + "s" * 4_000, "mem", "Bearer"):
        for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
            answer = httpx.get(
                f"{server}/api/v1/sessions", headers={k: v.encode("latin-1") for k, v in headers.items()}
            )
            assert answer.status_code == 401, (key, answer.text)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("scopes", [(), ("read", "everything"), ("READ",)])
def test_a_key_without_scopes_or_with_unknown_ones_is_not_made(scopes, acme_tenant):
    with pytest.raises(Invalid, match="Scopes are"):
        create_api_key(tenant=acme_tenant, actor="test", scopes=scopes)
    with admin_role():
        assert not ApiKey.objects.filter(tenant=acme_tenant).exists()
