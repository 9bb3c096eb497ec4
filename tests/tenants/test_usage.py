"""What tenants spend, in their accounts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connections
from django.utils import timezone

from providers.metering import Usage, report
from tenants import usage
from tenants.models import ProviderUsage
from tenants.router import admin_role
from tenants.usage import metered, usage_of
from tests.tenants.test_admin_site import log_in

EMBEDDING = Usage("openai", "text-embedding-3-small", "embed", calls=1, input_tokens=10)
SUMMARY = Usage("openai", "gpt-4.1-mini", "session_summary", calls=2, failures=1, input_tokens=1_000,
                output_tokens=200)  # fmt: skip


def spend(tenant, *used: Usage) -> None:
    with metered(tenant.id):
        for one in used:
            report(one)


def account(tenant):
    today = timezone.now().date()
    return usage_of(tenant_id=tenant.id, since=today - timedelta(days=1), until=today)


def test_a_block_is_one_row_for_each_model_and_purpose(acme_tenant):
    spend(acme_tenant, EMBEDDING, SUMMARY, EMBEDDING)
    summary, embedding = account(acme_tenant)
    assert (embedding.model, embedding.purpose) == ("text-embedding-3-small", "embed")
    assert (embedding.calls, embedding.failures, embedding.input_tokens) == (2, 0, 20)
    assert (summary.calls, summary.failures, summary.input_tokens, summary.output_tokens) == (
        2,
        1,
        1_000,
        200,
    )
    assert summary.cost_micros == 1_000 * 0.40 + 200 * 1.60
    assert summary.day == timezone.now().date()


def test_small_costs_add_up(acme_tenant):
    """Ten tokens cost a fifth of a millionth of a dollar."""
    for _ in range(50):
        spend(acme_tenant, EMBEDDING)
    (row,) = account(acme_tenant)
    assert (row.calls, row.input_tokens, row.cost_micros) == (50, 500, 10)


def test_a_block_that_fails_has_spent_all_the_same(acme_tenant):
    with pytest.raises(ZeroDivisionError), metered(acme_tenant.id):  # noqa: PT012
        report(EMBEDDING)
        raise ZeroDivisionError
    assert [row.calls for row in account(acme_tenant)] == [1]


def test_nothing_used_writes_nothing(acme_tenant, django_assert_num_queries):
    with django_assert_num_queries(0), metered(acme_tenant.id):
        pass
    assert account(acme_tenant) == []


def test_an_account_is_one_statement(acme_tenant, django_assert_num_queries):
    with django_assert_num_queries(4):  # BEGIN, SET LOCAL, the statement, COMMIT
        spend(acme_tenant, EMBEDDING, SUMMARY)


def test_threads_at_once_lose_nothing(acme_tenant, globex_tenant):
    def work(n: int) -> None:
        try:
            # In both orders: rows that were locked as they come would deadlock.
            spend(acme_tenant, *((EMBEDDING, SUMMARY) if n % 2 else (SUMMARY, EMBEDDING)))
            spend(globex_tenant, EMBEDDING)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(80)))
    summary, embedding = account(acme_tenant)
    assert (embedding.calls, embedding.input_tokens, summary.calls) == (80, 800, 160)
    assert summary.cost_micros == 80 * (400 + 320)
    assert [row.calls for row in account(globex_tenant)] == [80]


def test_nobody_sees_anothers_account(acme_tenant, globex_tenant):
    spend(acme_tenant, EMBEDDING)
    assert account(globex_tenant) == []


def test_days_are_accounts_of_their_own(acme_tenant, monkeypatch):
    yesterday = timezone.now() - timedelta(days=1)
    with monkeypatch.context() as patch:
        patch.setattr(usage.timezone, "now", lambda: yesterday)
        spend(acme_tenant, EMBEDDING)
    spend(acme_tenant, EMBEDDING)
    assert [(row.day, row.calls) for row in account(acme_tenant)] == [
        (timezone.now().date(), 1),
        (yesterday.date(), 1),
    ]
    assert usage_of(tenant_id=acme_tenant.id, since=yesterday.date(), until=yesterday.date())[0].calls == 1


def test_a_model_without_a_price_is_shown_as_such(acme_tenant, caplog):
    spend(acme_tenant, Usage("openai", "home-made", "embed", calls=1, input_tokens=5))
    spend(acme_tenant, Usage("openai", "home-made", "embed", calls=1, input_tokens=5))
    (row,) = account(acme_tenant)
    assert (row.input_tokens, row.cost_micros) == (10, None)
    with admin_role():
        assert ProviderUsage.objects.get(tenant=acme_tenant).cost_micros == 0
    assert caplog.text.count("provider_price_unknown model=home-made") == 1


def test_prices_can_be_ones_own(acme_tenant, settings, tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text("[models.home-cooked]\ninput = 7\n")
    settings.PROVIDER_PRICES_FILE = str(file)
    spend(acme_tenant, Usage("openai", "home-cooked", "embed", calls=1, input_tokens=3), EMBEDDING)
    assert {row.model: row.cost_micros for row in account(acme_tenant)} == {
        "home-cooked": 21,
        "text-embedding-3-small": None,
    }


def test_an_account_that_cannot_be_written_does_not_undo_the_work(acme_tenant, monkeypatch, caplog):
    def away(_tenant_id: object) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(usage, "scope", away)
    spend(acme_tenant, EMBEDDING)
    assert "provider_usage_lost" in caplog.text
    assert "input_tokens=10" in caplog.text


def test_the_innermost_tenant_pays(acme_tenant, globex_tenant):
    with metered(acme_tenant.id):
        spend(globex_tenant, EMBEDDING)
        report(SUMMARY)
    assert [row.purpose for row in account(globex_tenant)] == ["embed"]
    assert [row.purpose for row in account(acme_tenant)] == ["session_summary"]


def test_the_operator_sees_every_account_and_changes_none(acme_tenant, globex_tenant, server):
    spend(acme_tenant, SUMMARY)
    spend(globex_tenant, Usage("openai", "home-made", "embed", calls=1, input_tokens=5))
    User.objects.db_manager("admin").create_superuser(name := f"op-{uuid4().hex}", password="x")
    with httpx.Client(base_url=server, timeout=30) as browser:
        log_in(browser, name, "x")
        page = browser.get("/admin/tenants/providerusage/").text
        assert browser.get("/admin/tenants/providerusage/add/").status_code == 403
    assert acme_tenant.slug in page
    assert "0.000720" in page
    assert "no price known" in page
