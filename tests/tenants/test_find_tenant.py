"""Finding a tenant by what a token calls it."""

import secrets
import time

import pytest
from django.utils import timezone

from tenants import lookups
from tenants.models import Tenant
from tenants.router import admin_role
from tenants.tenancy import TenantName, create_tenant, find_tenant


@pytest.fixture
def later(monkeypatch, settings):
    """Moves on to when everything that is known must be asked again."""

    def move() -> None:
        now = time.monotonic() + settings.API_KEY_CACHE_SECONDS
        monkeypatch.setattr(lookups, "time", type("Later", (), {"monotonic": staticmethod(lambda: now)}))

    return move


def disable(tenant: Tenant) -> None:
    with admin_role():
        Tenant.objects.filter(id=tenant.id).update(disabled_at=timezone.now())


def test_a_tenant_is_found_by_id_and_by_slug(acme_tenant):
    found = TenantName(acme_tenant.id, acme_tenant.slug)
    assert find_tenant(str(acme_tenant.id)) == find_tenant(acme_tenant.slug) == found
    assert find_tenant(str(acme_tenant.id).upper()) == found


def test_a_slug_that_looks_like_anothers_id_does_not_stand_in_for_it(acme_tenant, later):
    impostor = create_tenant(slug=str(acme_tenant.id), name="impostor", actor="test")
    assert find_tenant(str(acme_tenant.id)).id == acme_tenant.id
    disable(acme_tenant)
    later()
    assert find_tenant(str(acme_tenant.id)) is None
    assert find_tenant(str(impostor.id)).id == impostor.id


def test_a_slug_of_32_hexadecimal_digits_is_a_slug():
    slug = secrets.token_hex(16)
    assert find_tenant(create_tenant(slug=slug, name="", actor="test").slug).slug == slug


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nobody",
        "0fe553a6-19de-45fb-9baf-1c7238bf5607",
        "%",
        "acme%",
        "\0",
        "a\0",
        "é",
        "a b",
        "a" * 64,
        "' OR true --",
        "\ud800",
        "\n",
    ],
)
def test_an_unknown_name_finds_nothing(name, acme_tenant):
    assert find_tenant(name) is None


def test_a_disabled_tenant_is_gone_within_five_seconds(acme_tenant, later, settings):
    assert settings.API_KEY_CACHE_SECONDS <= 5
    assert find_tenant(acme_tenant.slug)
    assert find_tenant(str(acme_tenant.id))
    disable(acme_tenant)
    later()
    assert find_tenant(acme_tenant.slug) is None
    assert find_tenant(str(acme_tenant.id)) is None


def test_an_unknown_tenant_is_found_as_soon_as_it_is_made():
    slug = f"new-{secrets.token_hex(4)}"
    assert find_tenant(slug) is None
    made = create_tenant(slug=slug, name="", actor="test")
    assert find_tenant(slug).id == made.id
