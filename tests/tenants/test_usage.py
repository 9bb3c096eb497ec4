"""What tenants spend, in their accounts."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

import httpx
import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connections
from django.utils import timezone

from providers.fake import FakeProvider
from providers.metering import Usage, report
from tenants import till, usage
from tenants.models import ProviderUsage, Tenant
from tenants.router import admin_role
from tenants.scope import scope
from tenants.till import Undecided
from tenants.usage import metered, usage_of
from tests.processes import ROOT, Web
from tests.tenants.test_admin_site import log_in

EMBEDDING = Usage("openai", "text-embedding-3-small", "embed", calls=1, input_tokens=10)
SUMMARY = Usage("openai", "gpt-4.1-mini", "session_summary", calls=2, failures=1, input_tokens=1_000,
                output_tokens=200)  # fmt: skip


def spend(tenant, *used: Usage) -> None:
    with metered(tenant.id):
        for one in used:
            report(one)


def account(tenant):
    usage.flush()
    return written(tenant)


def written(tenant):
    today = timezone.now().date()
    return usage_of(tenant_id=tenant.id, since=today - timedelta(days=1), until=today)


@pytest.fixture
def by_hand(monkeypatch):
    """Accounts that nothing writes but the test."""
    usage.flush()
    own = till.Till(usage._write, usage._is_committed)
    own._pid = os.getpid()  # as if its thread were there
    monkeypatch.setattr(usage, "_till", own)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


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


def test_what_is_spent_writes_nothing_in_the_way_of_a_request(acme_tenant, django_assert_num_queries):
    with django_assert_num_queries(0):
        spend(acme_tenant, EMBEDDING, SUMMARY)
    assert len(account(acme_tenant)) == 2


@pytest.mark.usefixtures("by_hand")
def test_whatever_was_spent_meanwhile_is_one_statement(acme_tenant, django_assert_num_queries):
    with django_assert_num_queries(5):  # BEGIN, SET LOCAL, the transaction's number, the statement, COMMIT
        for _ in range(20):
            spend(acme_tenant, EMBEDDING, SUMMARY)
        usage.flush()


def test_it_is_written_within_seconds_without_being_asked(acme_tenant):
    spend(acme_tenant, EMBEDDING)
    until(lambda: [row.calls for row in written(acme_tenant)] == [1])


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


def test_while_postgresql_is_away_nothing_is_lost_and_nobody_fails(acme_tenant, globex_tenant, monkeypatch):
    def away(_tenant_id: object) -> None:
        raise OperationalError("away")

    with monkeypatch.context() as patch:
        patch.setattr(usage, "scope", away)
        for tenant in (acme_tenant, globex_tenant):
            spend(tenant, EMBEDDING)
            with pytest.raises(OperationalError):
                usage.flush()
        spend(acme_tenant, EMBEDDING)
    assert [row.calls for row in account(acme_tenant)] == [2]
    assert [row.calls for row in account(globex_tenant)] == [1]


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_commit_whose_answer_is_lost_counts_once(acme_tenant, monkeypatch, is_committed):
    """The connection ends with the commit, or just before it."""

    @contextmanager
    def cut(tenant_id):
        with scope(tenant_id):
            yield
            if not is_committed:
                raise OperationalError("the connection is lost")
        raise OperationalError("the answer is lost")

    spend(acme_tenant, EMBEDDING)
    with monkeypatch.context() as patch:
        patch.setattr(usage, "scope", cut)
        with pytest.raises(Undecided):
            usage.flush()
    spend(acme_tenant, EMBEDDING)
    assert [row.calls for row in account(acme_tenant)] == [2]


def test_a_commit_that_is_still_open_is_waited_for(acme_tenant):
    """As PostgreSQL sees it, where the process has lost the connection and the server has not noticed."""
    with psycopg.connect(settings.DATABASE_URLS["default"]) as other:
        number = other.execute("SELECT pg_current_xact_id()::text").fetchone()[0]
        assert usage._is_committed(number) is None
        other.commit()
        assert usage._is_committed(number) is True
        number = other.execute("SELECT pg_current_xact_id()::text").fetchone()[0]
        other.rollback()
    assert usage._is_committed(number) is False
    assert usage._is_committed(str(int(number) + 10**9)) is False, "this server has never begun it"


def test_an_account_that_postgresql_refuses_is_told_to_the_log_and_holds_up_no_other(acme_tenant, caplog):
    spend(Tenant(id=uuid4()), EMBEDDING)
    spend(acme_tenant, EMBEDDING)
    assert [row.calls for row in account(acme_tenant)] == [1]
    assert "provider_usage_lost" in caplog.text
    assert "input_tokens=10" in caplog.text


@pytest.mark.usefixtures("by_hand")
def test_what_waits_is_bounded(acme_tenant, globex_tenant, monkeypatch, caplog):
    usage.flush()
    monkeypatch.setattr(till, "MOST", 1)
    for _ in range(2):
        spend(acme_tenant, EMBEDDING)
        spend(globex_tenant, EMBEDDING)
    assert ([row.calls for row in account(acme_tenant)], account(globex_tenant)) == ([2], [])
    assert caplog.text.count("provider_usage_lost") == 2


def test_a_forked_process_counts_its_own_although_a_lock_was_held(acme_tenant):
    usage.flush()
    spend(acme_tenant, EMBEDDING)
    with usage._till._flushing, usage._till._lock:
        child = os.fork()
        if not child:
            spend(acme_tenant, SUMMARY)
            (meter,) = usage._till._sums.values()
            os._exit(0 if meter.totals() == [SUMMARY] else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert [(row.purpose, row.calls) for row in account(acme_tenant)] == [("embed", 1)]


SPENDS_AND_ENDS = """
import sys, uuid, django
django.setup()
from providers.metering import Usage, report
from tenants.usage import metered
def spend():
    with metered(uuid.UUID(sys.argv[1])):
        report(Usage("openai", "text-embedding-3-small", "embed", calls=1))
if sys.argv[2] == "itself":
    spend()
else:
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=spend)
    child.start(); child.join()
    assert child.exitcode == 0
"""


@pytest.mark.parametrize("who", ["itself", "a child"])
def test_a_process_that_ends_writes_what_it_has_not_yet(acme_tenant, who):
    """A child as web servers make it never reaches atexit."""
    command = [sys.executable, "-c", SPENDS_AND_ENDS, str(acme_tenant.id), who]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [row.calls for row in written(acme_tenant)] == [1], done.stderr


def test_a_web_process_that_is_stopped_writes_what_it_has_not_yet(acme, tmp_path):
    with FakeProvider() as provider:
        web = Web(
            {
                **os.environ, "EMBEDDING_PROVIDER": "openai", "EMBEDDING_MODEL": "text-embedding-3-small",
                "OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": "sk-x",
            },
            log=tmp_path / "web.log",
        )  # fmt: skip
        try:
            web.wait_until_alive()
            body = {"text": "Kim likes trains.", "user_id": "kim"}
            answer = httpx.post(
                f"{web.url}/api/v1/episodes", json=body, headers=acme.http.headers, timeout=30
            )
            assert answer.json()["embedded"] is True
        finally:
            web.stop()
    assert [(row.purpose, row.calls) for row in written(acme.tenant)] == [("embed", 1)]


def test_the_innermost_tenant_pays(acme_tenant, globex_tenant):
    with metered(acme_tenant.id):
        spend(globex_tenant, EMBEDDING)
        report(SUMMARY)
    assert [row.purpose for row in account(globex_tenant)] == ["embed"]
    assert [row.purpose for row in account(acme_tenant)] == ["session_summary"]


def test_the_operator_sees_every_account_and_changes_none(acme_tenant, globex_tenant, server):
    spend(acme_tenant, SUMMARY)
    spend(globex_tenant, Usage("openai", "home-made", "embed", calls=1, input_tokens=5))
    usage.flush()
    User.objects.db_manager("admin").create_superuser(name := f"op-{uuid4().hex}", password="x")
    with httpx.Client(base_url=server, timeout=30) as browser:
        log_in(browser, name, "x")
        # Each by itself: among the accounts of all other tests they might not be on the first page.
        lists = [
            browser.get("/admin/tenants/providerusage/", params={"tenant": one.slug}).text
            for one in (acme_tenant, globex_tenant)
        ]
        page = "".join(lists)
        assert browser.get("/admin/tenants/providerusage/add/").status_code == 403
    assert acme_tenant.slug in page
    assert "0.000720" in page
    assert "no price known" in page
