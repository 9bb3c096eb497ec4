import os
import signal

import pytest

pytestmark = pytest.mark.processes


def test_a_worker_that_is_told_to_end_finishes_the_job_that_it_runs(works):
    tenant = works.tenant()
    works.add(tenant, "torture.slow", "last", hold="prepare")
    pid = works.wait_for_mark("last", "prepare")
    name = next(name for name in works.programs if works.pid(name) == pid)
    program = works.programs.pop(name)
    try:
        os.kill(pid, signal.SIGTERM)
        works.add(tenant, "torture.slow", "next")
        works.wait_until(lambda: works.counted(tenant, "torture.effect")["next"])  # by the other worker
        works.mark("last", "go").touch()
        works.wait_until(lambda: program.exited() is not None, 20)
        assert program.exited() == 0
    finally:
        works.programs[name] = program
    assert works.mark("last", f"over-{pid}").exists()
    works.wait_until(lambda: works.drained(tenant))
    works.assert_exactly_once(tenant)
    works.keep()
