"""A key's successor: the same reach, and a while in which both work."""

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from tenants import api_keys, lookups
from tenants.api_keys import MAX_OVERLAP_SECONDS, authenticate, create_api_key, revoke_api_key, rotate_api_key
from tenants.errors import Conflict, Invalid, Unauthenticated
from tenants.models import ApiKey, AuditEntry
from tenants.router import admin_role


@pytest.fixture(autouse=True)
def _no_cache(settings):
    settings.API_KEY_CACHE_SECONDS = 0


def works(text: str) -> bool:
    try:
        authenticate(text)
    except Unauthenticated:
        return False
    return True


def stored(key: ApiKey) -> ApiKey:
    with admin_role():
        return ApiKey.objects.get(id=key.id)


def rotate(key: ApiKey, overlap: int = 3_600, now=None) -> tuple[ApiKey, str]:
    return rotate_api_key(key=key, actor="test", overlap_seconds=overlap, now=now or timezone.now())


def test_the_successor_has_the_same_scopes_and_bindings_and_another_secret(acme_tenant):
    end = timezone.now() + timedelta(days=30)
    old, old_text = create_api_key(
        tenant=acme_tenant, actor="test", scopes=("read", "privacy"), name="n", user_id="u", agent_id="a",
        project="p", expires_at=end,
    )  # fmt: skip
    new, new_text = rotate(old)
    before, after = authenticate(old_text), authenticate(new_text)
    assert after.tenant_id == before.tenant_id == acme_tenant.id
    assert after.scopes == before.scopes == {"read", "privacy"}
    assert (after.user_id, after.agent_id, after.project) == ("u", "a", "p")
    assert (stored(new).replaces, stored(new).name, stored(new).expires_at) == (old.key_id, "n", end)
    assert stored(new).secret_hash != stored(old).secret_hash
    assert before.principal != after.principal


def test_both_work_until_the_overlap_ends_and_then_the_new_one_alone(acme_tenant, monkeypatch):
    old, old_text = create_api_key(tenant=acme_tenant, actor="test")
    now = timezone.now()
    _new, new_text = rotate(old, 600, now)
    assert stored(old).expires_at == now + timedelta(seconds=600)
    assert stored(old).revoked_at is None
    assert works(old_text)
    assert works(new_text)
    monkeypatch.setattr(api_keys.timezone, "now", lambda: now + timedelta(seconds=600))
    assert not works(old_text)
    assert works(new_text)


def test_without_an_overlap_the_old_key_is_revoked(acme_tenant):
    old, old_text = create_api_key(tenant=acme_tenant, actor="test")
    now = timezone.now()
    _new, new_text = rotate(old, 0, now)
    assert stored(old).revoked_at == now
    assert not works(old_text)
    assert works(new_text)


def test_an_overlap_never_prolongs_the_old_key(acme_tenant):
    soon = timezone.now() + timedelta(seconds=60)
    old, _text = create_api_key(tenant=acme_tenant, actor="test", expires_at=soon)
    rotate(old, 3_600)
    assert stored(old).expires_at == soon


def test_a_key_that_is_revoked_or_expired_has_no_successor(acme_tenant):
    revoked, _text = create_api_key(tenant=acme_tenant, actor="test")
    revoke_api_key(key=revoked, actor="test", now=timezone.now())
    revoked.revoked_at = None  # what an outdated page believes
    soon = timezone.now() + timedelta(seconds=60)
    expired, _text = create_api_key(tenant=acme_tenant, actor="test", expires_at=soon)
    for key in (revoked, expired):
        with pytest.raises(Conflict):
            rotate(key, now=soon)
    with admin_role():
        assert ApiKey.objects.filter(tenant=acme_tenant).count() == 2
        assert not AuditEntry.objects.filter(tenant=acme_tenant, action="api_key.rotate").exists()


def test_a_key_has_one_successor_unless_that_was_revoked(acme_tenant):
    old, _text = create_api_key(tenant=acme_tenant, actor="test")
    new, _text = rotate(old)
    with pytest.raises(Conflict, match=new.key_id):
        rotate(old)
    revoke_api_key(key=new, actor="test", now=timezone.now())
    _newer, text = rotate(old)
    assert works(text)


def test_of_two_who_rotate_a_key_at_once_one_succeeds(acme_tenant):
    old, _text = create_api_key(tenant=acme_tenant, actor="test")

    def attempt(_number: int) -> bool:
        try:
            rotate(old)
        except Conflict:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(4))) == [False, False, False, True]


@pytest.mark.parametrize("overlap", [-1, MAX_OVERLAP_SECONDS + 1, 10**30])
def test_an_overlap_has_its_bounds(overlap, acme_tenant):
    old, _text = create_api_key(tenant=acme_tenant, actor="test")
    with pytest.raises(Invalid):
        rotate(old, overlap)
    rotate(old, MAX_OVERLAP_SECONDS)


def test_the_audit_log_tells_of_both_keys_and_no_secret(acme_tenant):
    old, old_text = create_api_key(tenant=acme_tenant, actor="test")
    new, new_text = rotate(old, 60)
    with admin_role():
        entry = AuditEntry.objects.get(tenant=acme_tenant, action="api_key.rotate")
    assert (entry.actor, entry.target) == ("test", old.key_id)
    assert entry.details == {"successor": new.key_id, "overlap_seconds": 60}
    for text in (old_text, new_text):
        assert text.split("_", 2)[2] not in str(vars(entry))


def command(*args: str) -> str:
    out = io.StringIO()
    call_command("rotate_api_key", *args, stdout=out)
    return out.getvalue().strip()


@pytest.mark.parametrize(
    ("option", "seconds"),
    [([], 86_400), (["--overlap", "90"], 90), (["--overlap", "90s"], 90), (["--overlap", "15m"], 900),
     (["--overlap", "2h"], 7_200), (["--overlap", "7d"], 604_800)],
)  # fmt: skip
def test_the_command_prints_the_new_key(option, seconds, acme_tenant):
    old, old_text = create_api_key(tenant=acme_tenant, actor="test")
    assert works(command(old.key_id, *option))
    assert works(old_text)
    left = stored(old).expires_at - timezone.now() - timedelta(seconds=seconds)
    assert abs(left) < timedelta(minutes=1)


def test_the_command_can_end_the_old_key_at_once(acme_tenant):
    old, old_text = create_api_key(tenant=acme_tenant, actor="test")
    assert works(command(old.key_id, "--overlap", "0"))
    assert not works(old_text)


@pytest.mark.parametrize("overlap", ["-1", "1w", "h", "", "1.5h", "soon", "31d"])
def test_the_command_tells_of_an_overlap_that_is_none(overlap, acme_tenant):
    old, _text = create_api_key(tenant=acme_tenant, actor="test")
    with pytest.raises(CommandError):
        command(old.key_id, f"--overlap={overlap}")
    assert stored(old).expires_at is None


def test_the_command_tells_of_a_key_that_is_none_without_repeating_it(acme_tenant):
    old, text = create_api_key(tenant=acme_tenant, actor="test")
    for wrong in ("nothing", text):
        with pytest.raises(CommandError) as caught:
            command(wrong)
        assert wrong not in str(caught.value)
    command(old.key_id)
    with pytest.raises(CommandError, match="rotated already"):
        command(old.key_id)


def test_within_the_cache_time_at_most_a_rotated_out_key_goes_on(acme_tenant, settings, monkeypatch):
    settings.API_KEY_CACHE_SECONDS = 5
    old, text = create_api_key(tenant=acme_tenant, actor="test")
    assert works(text)
    rotate(old, 0)
    later = lookups.time.monotonic() + 5
    monkeypatch.setattr(lookups, "time", type("Later", (), {"monotonic": staticmethod(lambda: later)}))
    assert not works(text)
