from contextlib import ExitStack

import pytest

from tests.torture.works import JOBS, LONG, frozen

pytestmark = pytest.mark.processes
SECONDS = 10 if LONG else 2


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_while_postgresql_is_away_writes_fail_and_afterwards_each_committed_cause_has_one_effect(
    works, fault
):
    tenant = works.tenant()
    written = works.write(tenant, jobs=JOBS, rate=150)
    works.wait_until(lambda: written.count() > JOBS / 3)
    postgres = works.stores.postgres
    with ExitStack() as stack:
        if fault == "frozen":
            stack.enter_context(frozen(postgres.pid))
        else:
            postgres.kill()
            stack.callback(postgres.start)
        works.pause(SECONDS)
    works.wait_until(written.ended)
    works.wait_until(lambda: works.drained(tenant))
    works.assert_exactly_once(tenant, written)
    assert "OperationalError" in written.outcomes() or not LONG
    assert not works.deaths
