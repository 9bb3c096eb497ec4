"""What is ended is refused by every web process within five seconds."""

import os
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from django.utils import timezone

from tenants.api_keys import create_api_key, revoke_api_key, rotate_api_key
from tenants.models import Tenant
from tenants.router import admin_role
from tests.plugin import HOME
from tests.processes import Web
from tests.tenants.issuer import AUDIENCE, SECRET, token

pytestmark = pytest.mark.processes
SLACK_SECONDS = 0.5  # of the machine, not of the promise


@pytest.fixture(scope="module")
def anonymous_slug(_database) -> str:
    from tenants.tenancy import create_tenant

    return create_tenant(slug=f"open-{os.urandom(4).hex()}", name="", actor="test").slug


@pytest.fixture(scope="module")
def doors(anonymous_slug) -> Iterator[list[str]]:
    """Two web processes that know nothing of each other."""
    environment = {
        **os.environ,
        "JWT_ALGORITHMS": "HS256",
        "JWT_SECRET": SECRET,
        "JWT_AUDIENCE": AUDIENCE,
        "MEMORY_ANONYMOUS_TENANT": anonymous_slug,
    }
    webs = [Web(environment, log=HOME / f"door-{number}.log") for number in range(2)]
    try:
        yield [web.wait_until_alive().url for web in webs]
    finally:
        for web in webs:
            web.stop()


def statuses(doors: list[str], credential: str) -> list[int]:
    headers = {"Authorization": f"Bearer {credential}"} if credential else {}
    return [httpx.get(f"{door}/api/v1/sessions", headers=headers).status_code for door in doors]


def assert_all_end(doors: list[str], credentials: list[str], end: Callable[[], object]) -> None:
    """Each of them is let in everywhere, and five seconds after `end` nowhere."""
    for credential in credentials * 2:
        assert statuses(doors, credential) == [200, 200]
    end()
    deadline, left = time.monotonic() + 5 + SLACK_SECONDS, set(credentials)
    while left and time.monotonic() < deadline:
        left = {one for one in left if statuses(doors, one) != [401, 401]}
        time.sleep(0.05)
    for credential in credentials:
        assert statuses(doors, credential) == [401, 401]


def test_keys_that_are_revoked_or_rotated_without_overlap_end_everywhere(doors, acme_tenant):
    made = [create_api_key(tenant=acme_tenant, actor="test") for _ in range(3)]
    (revoked, _), (rotated, _), (_kept, kept_text) = made
    successors = []

    def end() -> None:
        revoke_api_key(key=revoked, actor="test", now=timezone.now())
        _new, text = rotate_api_key(key=rotated, actor="test", overlap_seconds=0, now=timezone.now())
        successors.append(text)

    assert_all_end(doors, [text for _key, text in made[:2]], end)
    assert statuses(doors, kept_text) == statuses(doors, successors[0]) == [200, 200]


def test_a_disabled_tenant_ends_for_keys_and_tokens_everywhere(doors, acme_tenant, globex_tenant):
    _key, text = create_api_key(tenant=acme_tenant, actor="test")
    credentials = [text, token(acme_tenant.id, sub="ann"), token(acme_tenant.slug, sub="bob")]

    def end() -> None:
        with admin_role():
            Tenant.objects.filter(id=acme_tenant.id).update(disabled_at=timezone.now())

    assert_all_end(doors, credentials, end)
    assert statuses(doors, token(globex_tenant.id)) == [200, 200]


def test_a_disabled_tenant_ends_for_callers_without_a_key_everywhere(doors, anonymous_slug):
    def end() -> None:
        with admin_role():
            Tenant.objects.filter(slug=anonymous_slug).update(disabled_at=timezone.now())

    assert_all_end(doors, [""], end)
