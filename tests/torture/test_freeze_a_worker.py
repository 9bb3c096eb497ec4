import pytest

from tests.torture.works import frozen

pytestmark = pytest.mark.processes


def test_a_worker_that_froze_before_it_applied_a_job_finds_it_done_by_another(works):
    tenant = works.tenant()
    works.add(tenant, "torture.kept", "icy", hold="prepare")
    pid = works.wait_for_mark("icy", "prepare")
    with frozen(pid):
        works.wait_until(lambda: works.drained(tenant))  # its lease ran out, and the other worker took over
    works.mark("icy", "go").touch()
    works.wait_until(works.mark("icy", f"over-{pid}").exists)
    works.assert_exactly_once(tenant)
    assert not works.deaths


def test_a_worker_that_froze_in_a_transaction_holds_up_nothing_but_its_job(works):
    tenant = works.tenant()
    works.add(tenant, "torture.quick", "held", hold="applied")
    pid = works.wait_for_mark("held", "applied")
    with frozen(pid):
        works.pause(4)  # the lease has run out
        for n in range(3):
            works.add(tenant, "torture.quick", f"free-{n}")
            works.wait_until(lambda n=n: works.counted(tenant, "torture.effect")[f"free-{n}"], 10)
        assert works.counted(tenant, "torture.effect")["held"] == 0
        works.mark("held", "go").touch()
    works.wait_until(lambda: works.drained(tenant))
    works.assert_exactly_once(tenant)
    assert not works.deaths
