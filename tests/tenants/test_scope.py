"""`scope()`: the one gate to tenant tables."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.conf import settings
from django.db import DataError, OperationalError, connection, connections, transaction
from django.utils import timezone

from tenants.errors import Overdue
from tenants.models import AuditEntry, Tenant
from tenants.router import admin_role
from tenants.scope import (
    ForeignTenantScope,
    NoTenantScope,
    current_tenant,
    each_statement_within,
    fetch_alone,
    scope,
    unscoped,
)
from working.models import Session


def add_session(tenant: Tenant, name: str = "s") -> Session:
    now = timezone.now()
    return Session.objects.create(
        tenant_id=tenant.id, external_id=name, started_at=now, opened_at=now, last_activity_at=now
    )


def names() -> list[str]:
    return sorted(Session.objects.values_list("external_id", flat=True))


def setting() -> str | None:
    """What PostgreSQL believes the tenant to be."""
    with unscoped(), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('app.tenant_id', true)")
        return cursor.fetchone()[0]


def test_a_scope_sees_its_own_tenants_rows_and_no_others(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant, "of acme")
    with scope(globex_tenant.id):
        add_session(globex_tenant, "of globex")
        assert names() == ["of globex"]
    with scope(acme_tenant.id):
        assert names() == ["of acme"]


def test_a_scope_inside_one_of_the_same_tenant_joins_it(acme_tenant):
    with pytest.raises(ZeroDivisionError), scope(acme_tenant.id):  # noqa: PT012
        with scope(acme_tenant.id):
            add_session(acme_tenant)
        assert current_tenant() == acme_tenant.id
        assert names() == ["s"]
        raise ZeroDivisionError
    with scope(acme_tenant.id):
        assert names() == []  # one transaction: the inner scope's end committed nothing


def test_a_scope_of_another_tenant_inside_is_refused_and_the_outer_one_goes_on(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant)
        with pytest.raises(ForeignTenantScope), scope(globex_tenant.id):
            pytest.fail("the scope was opened")
        assert current_tenant() == acme_tenant.id
        assert names() == ["s"]


def test_after_a_scope_there_is_none(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        pass
    with pytest.raises(NoTenantScope):
        current_tenant()
    assert setting() == ""
    with scope(globex_tenant.id):
        assert current_tenant() == globex_tenant.id


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, GeneratorExit])
def test_after_an_exception_there_is_none_and_nothing_was_stored(error, acme_tenant):
    with pytest.raises(error), scope(acme_tenant.id):  # noqa: PT012
        add_session(acme_tenant)
        raise error
    with pytest.raises(NoTenantScope):
        current_tenant()
    assert setting() in ("", None)
    with scope(acme_tenant.id):
        assert names() == []


def test_the_setting_dies_with_a_rollback_of_the_whole_and_outlives_one_of_a_part(acme_tenant):
    with scope(acme_tenant.id):
        with pytest.raises(ZeroDivisionError), transaction.atomic():  # noqa: PT012
            add_session(acme_tenant)
            raise ZeroDivisionError
        assert setting() == str(acme_tenant.id)
        assert names() == []
        transaction.set_rollback(True)
    assert setting() in ("", None)


def test_a_scope_inside_a_transaction_of_somebody_elses_is_refused(acme_tenant):
    """There the setting would stay until that transaction ends, and the rows would not yet be committed."""
    durable = pytest.raises(RuntimeError, match="durable")
    with unscoped(), transaction.atomic(), durable, scope(acme_tenant.id):
        pytest.fail("the scope was opened")
    assert setting() in ("", None)


def test_a_scope_that_is_no_uuid_opens_nothing():
    with pytest.raises(ValueError, match="hexadecimal"), scope("' OR true --"):  # type: ignore[arg-type]
        pytest.fail("the scope was opened")
    with pytest.raises(NoTenantScope):
        current_tenant()


def test_statements_outside_a_scope_are_refused_and_not_answered_with_silence():
    with pytest.raises(NoTenantScope, match=r"tenants\.scope\.scope"):
        list(Session.objects.all())
    with pytest.raises(NoTenantScope):
        Session.objects.filter(external_id="s").delete()
    with pytest.raises(NoTenantScope):
        Session.objects.update(summary="")
    with pytest.raises(NoTenantScope), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(NoTenantScope), connection.cursor() as cursor:
        cursor.executemany("SELECT %s", [[1]])


def test_a_queryset_that_left_its_scope_is_refused_when_it_is_read(acme_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant)
        lazy = Session.objects.all()
        rows = Session.objects.iterator()
    with pytest.raises(NoTenantScope):
        len(lazy)
    with pytest.raises(NoTenantScope):
        next(rows)


def test_a_relation_and_a_deferred_field_that_are_read_too_late_are_refused(acme_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant)
        session = Session.objects.defer("summary").get()
    with pytest.raises(NoTenantScope):
        _ = session.tenant
    with pytest.raises(NoTenantScope):
        _ = session.summary
    with pytest.raises(NoTenantScope):
        session.refresh_from_db()


def test_unscoped_statements_run_but_see_no_tenants_rows(acme_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant)
    with unscoped():
        assert names() == []
        assert not Tenant.objects.exists()
        assert not AuditEntry.objects.exists()
    with pytest.raises(NoTenantScope):
        names()


def test_unscoped_inside_a_scope_widens_nothing(acme_tenant, globex_tenant):
    for tenant in (acme_tenant, globex_tenant):
        with scope(tenant.id):
            add_session(tenant, f"of {tenant.name}")
    with scope(acme_tenant.id), unscoped():
        assert names() == ["of acme"]


def test_a_scope_inside_the_admin_role_sees_one_tenant_all_the_same(acme_tenant, globex_tenant):
    """The admin's pages run as the admin role: what they call must not see everybody's memories for that."""
    for tenant in (acme_tenant, globex_tenant):
        with scope(tenant.id):
            add_session(tenant, f"of {tenant.name}")
    with admin_role():
        with scope(acme_tenant.id):
            assert names() == ["of acme"]
            with scope(acme_tenant.id):
                assert names() == ["of acme"]
        assert {"of acme", "of globex"} <= set(names())


def test_the_guard_outlives_a_wrapper_that_was_there_when_the_connection_opened():
    def passes(execute, *args):
        return execute(*args)

    connection.close()
    saved, connection.execute_wrappers[:] = list(connection.execute_wrappers), []
    try:
        with connection.execute_wrapper(passes), pytest.raises(NoTenantScope):
            names()
        with pytest.raises(NoTenantScope):
            names()
        assert connection.execute_wrappers == saved
    finally:
        connection.execute_wrappers[:] = saved


def test_a_thread_does_not_inherit_the_scope_of_the_one_that_started_it(acme_tenant):
    raised: list[BaseException] = []

    def look() -> None:
        try:
            names()
        except NoTenantScope as error:
            raised.append(error)
        finally:
            connections.close_all()

    with scope(acme_tenant.id):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert len(raised) == 1


def test_two_threads_hold_scopes_of_two_tenants_at_once(acme_tenant, globex_tenant):
    both_are_in = threading.Barrier(2, timeout=10)

    def work(tenant: Tenant) -> tuple[UUID, list[str]]:
        try:
            with scope(tenant.id):
                add_session(tenant, f"of {tenant.name}")
                both_are_in.wait()
                return current_tenant(), names()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(work, (acme_tenant, globex_tenant)))
    assert found == [(acme_tenant.id, ["of acme"]), (globex_tenant.id, ["of globex"])]


def test_reused_connections_carry_nothing_from_one_tenant_to_the_next(acme_tenant, globex_tenant):
    """Three times as many threads as the pool has connections, each changing tenants at every turn."""
    tenants = (acme_tenant, globex_tenant)
    for tenant in tenants:
        with scope(tenant.id):
            add_session(tenant, f"of {tenant.name}")

    def hammer(number: int) -> set[int]:
        used = set()
        for turn in range(24):
            tenant = tenants[(number + turn) % 2]
            with unscoped():
                assert names() == []
            with pytest.raises((ZeroDivisionError, DataError)), scope(tenant.id):  # noqa: PT012
                assert names() == [f"of {tenant.name}"]
                used.add(connection.connection.info.backend_pid)
                if turn % 3:
                    add_session(tenant, "never committed")
                if turn % 5 == 0:
                    connection.cursor().execute("SELECT 1/0")
                raise ZeroDivisionError
            with scope(tenant.id):
                assert names() == [f"of {tenant.name}"]
            connection.close()  # back into the pool, as at the end of a request
        return used

    with ThreadPoolExecutor(3 * settings.DATABASE_POOL_SIZE) as threads:
        used = list(threads.map(hammer, range(3 * settings.DATABASE_POOL_SIZE)))
    assert sum(map(len, used)) > len(set().union(*used))  # they did share


def ask(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


def test_a_statement_that_takes_too_long_is_given_up(acme_tenant):
    with each_statement_within(0.05):
        with pytest.raises(Overdue), scope(acme_tenant.id):
            ask("SELECT pg_sleep(5)")
        with pytest.raises(Overdue), scope(acme_tenant.id), scope(acme_tenant.id):
            ask("SELECT pg_sleep(5)")
    with each_statement_within(30), scope(acme_tenant.id):
        assert ask("SELECT 'fine'") == "fine"


def test_the_limit_ends_with_the_block_and_is_told_with_the_tenant(acme_tenant):
    with scope(acme_tenant.id):
        usual = ask("SHOW statement_timeout")
    with each_statement_within(1.5), connection.execute_wrapper(counted := Counted()), scope(acme_tenant.id):
        assert ask("SHOW statement_timeout") == "1500ms"
    assert counted.statements == 2
    with scope(acme_tenant.id):
        assert ask("SHOW statement_timeout") == usual != "1500ms"


def test_what_is_given_up_without_a_limit_of_ours_is_no_lateness(acme_tenant):
    with pytest.raises(OperationalError), scope(acme_tenant.id):
        ask("SET LOCAL statement_timeout = 20; SELECT pg_sleep(5)")


class Counted:
    """Counts what goes to PostgreSQL."""

    statements = 0

    def __call__(self, execute, sql, params, many, context):
        self.statements += 1
        return execute(sql, params, many, context)


SESSIONS = (
    "SELECT count(*), min(external_id), current_setting('app.tenant_id') FROM working_session WHERE %(all)s"
)


def test_a_statement_alone_sees_its_tenants_rows_and_leaves_no_setting(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant, "of acme")
    assert fetch_alone(acme_tenant.id, SESSIONS, {"all": True}) == (1, "of acme", str(acme_tenant.id))
    assert fetch_alone(globex_tenant.id, SESSIONS, {"all": True}) == (0, None, str(globex_tenant.id))
    assert setting() == ""
    with pytest.raises(NoTenantScope):
        names()


def test_a_statement_alone_joins_the_open_scope_of_its_tenant_and_of_no_other(acme_tenant, globex_tenant):
    with scope(acme_tenant.id):
        add_session(acme_tenant)
        assert fetch_alone(acme_tenant.id, SESSIONS, {"all": True})[0] == 1
        with pytest.raises(ForeignTenantScope):
            fetch_alone(globex_tenant.id, SESSIONS, {"all": True})
        assert setting() == str(acme_tenant.id)


def test_a_statement_alone_inside_a_transaction_of_somebody_elses_is_refused(acme_tenant):
    with transaction.atomic(), pytest.raises(ForeignTenantScope):
        fetch_alone(acme_tenant.id, SESSIONS, {"all": True})


def test_a_statement_alone_that_fails_leaves_nothing_and_the_connection_goes_on(acme_tenant):
    with pytest.raises(DataError):
        fetch_alone(acme_tenant.id, "SELECT 1 / %(by)s", {"by": 0})
    assert not connection.in_atomic_block
    assert fetch_alone(acme_tenant.id, SESSIONS, {"all": False})[0] == 0


def test_a_statement_alone_is_given_up_as_others_are(acme_tenant):
    with each_statement_within(0.05), pytest.raises(Overdue):
        fetch_alone(acme_tenant.id, "SELECT pg_sleep(%(long)s)", {"long": 60})
