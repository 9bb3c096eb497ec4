"""Getting to one's own pages by a token of the operator's identity provider."""

import httpx
import pytest

from tests.api.test_tokens import door, tenant
from tests.tenants.issuer import token

__all__ = ["door", "tenant"]


@pytest.fixture
def slug(tenant) -> str:
    for name in ("ann", "bob"):
        memory = {"user_id": name, "text": f"{name} likes tea."}
        tenant.http.post("/api/v1/episodes", json=memory).raise_for_status()
    return tenant.tenant.slug


def test_a_token_leads_to_the_pages_of_its_subject(door, slug):
    with httpx.Client(base_url=door) as browser:
        entered = browser.get(f"/me/enter/{token(slug, sub='ann', scope='read write')}")
        assert entered.headers["location"] == "/me/"
        page = browser.get("/me/").text
        assert "ann likes tea" in page
        assert "bob likes tea" not in page
        assert browser.get("/me/rights").status_code == 403  # the token has no scope privacy


def test_a_token_may_also_come_as_a_header(door, slug):
    headers = {"Authorization": f"Bearer {token(slug, sub='ann', scope='read')}"}
    assert "ann likes tea" in httpx.get(f"{door}/me/", headers=headers).text


@pytest.mark.parametrize("change", [{"exp": 1}, {"aud": "others"}, {"iss": "others"}])
def test_a_token_that_is_not_valid_is_refused(door, slug, change):
    text = token(slug, sub="ann", scope="read", **change)
    assert httpx.get(f"{door}/me/enter/{text}").status_code == 401
    assert httpx.get(f"{door}/me/", headers={"Authorization": f"Bearer {text}"}).status_code == 401


def test_a_service_is_nobody(door, slug):
    text = token(slug, sub="robot", scope="admin")
    assert httpx.get(f"{door}/me/enter/{text}").status_code == 401


def test_an_api_key_opens_nobodys_pages(door, slug, tenant):
    assert httpx.get(f"{door}/me/", headers={"Authorization": f"Bearer {tenant.key}"}).status_code == 401
